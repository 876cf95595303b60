-- The time of a call in ms, as text: the given one, or Redis' own for ''.
local function now_of(given)
    if given ~= '' then return tonumber(given) and given or error('now must be a number') end
    local time = redis.call('TIME')
    return string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000))
end
