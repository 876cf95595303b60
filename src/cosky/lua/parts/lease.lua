-- A lease in seconds from its argument: a plain number from 1 to ten years, or nil.
local function lease_of(text)
    local seconds = string.find(text, '^[1-9]%d*$') and tonumber(text)
    return seconds and seconds <= 315360000 and seconds or nil
end
