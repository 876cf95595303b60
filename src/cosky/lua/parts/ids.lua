-- The ids on the list of a service; nil for a list that is none. Any other error ends the script.
local function ids_of(list)
    local ids = redis.pcall('SMEMBERS', list)
    if ids.err and string.find(ids.err, '^WRONGTYPE') then return nil end
    return ids.err and redis.call('SMEMBERS', list) or ids
end
