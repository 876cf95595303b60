-- Counts the living instances of a service, or of all, and stores the counts of those that are
-- listed. Expired instances leave the list of their service and are announced.
-- KEYS: namespace
-- ARGV: service, or nothing for all
-- Reply: nil; why, when a message was refused
-- include cosky/lua/parts/announce.lua
-- include cosky/lua/parts/living.lua
local ns = KEYS[1]
local function count(service)
    local living_ones = 0
    for _, id in ipairs(redis.call('SMEMBERS', ns .. ':svc_itc_idx:' .. service)) do
        if living(ns, service, id) ~= -2 then living_ones = living_ones + 1 end
    end
    redis.call('HSET', ns .. ':svc_stat', service, living_ones)
end
if #ARGV == 0 then
    for _, service in ipairs(redis.call('SMEMBERS', ns .. ':svc_idx')) do count(service) end
elseif redis.call('SISMEMBER', ns .. ':svc_idx', ARGV[1]) == 1 then
    count(ARGV[1])
end
return refused
