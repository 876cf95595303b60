-- Counts the living instances of a service, or of all, and stores the counts of those that are
-- listed. Expired instances leave the list of their service and are announced. A service whose list
-- is none is left out.
-- KEYS: namespace
-- ARGV: service, or nothing for all
-- Reply: nil; {the services that were left out, why a message was refused} if there are any
-- include cosky/lua/parts/announce.lua
-- include cosky/lua/parts/living.lua
-- include cosky/lua/parts/ids.lua
local ns, left_out = KEYS[1], {}
local function count(service)
    local living_ones, ids = 0, ids_of(ns .. ':svc_itc_idx:' .. service)
    if not ids then
        left_out[#left_out + 1] = service
        return
    end
    for _, id in ipairs(ids) do
        if living(ns, service, id) ~= -2 then living_ones = living_ones + 1 end
    end
    redis.call('HSET', ns .. ':svc_stat', service, living_ones)
end
if #ARGV == 0 then
    for _, service in ipairs(redis.call('SMEMBERS', ns .. ':svc_idx')) do count(service) end
elseif redis.call('SISMEMBER', ns .. ':svc_idx', ARGV[1]) == 1 then
    count(ARGV[1])
end
if #left_out > 0 or refused then return {left_out, refused} end
