-- Removes a service that has no living instance; expired ones leave its list and are announced.
-- KEYS: namespace
-- ARGV: service
-- Reply: 1 if it was listed and is gone, else 0; {that, why} when a message was refused
-- include cosky/lua/parts/announce.lua
-- include cosky/lua/parts/living.lua
local ns, service, in_use = KEYS[1], ARGV[1], false
-- All of them, so that what is cleaned up does not depend on the order of a set.
for _, id in ipairs(redis.call('SMEMBERS', ns .. ':svc_itc_idx:' .. service)) do
    if living(ns, service, id) ~= -2 then in_use = true end
end
if in_use then return answer(0) end
-- Whatever Redis refuses of the count, which is a hint.
redis.pcall('HDEL', ns .. ':svc_stat', service)
if redis.call('SREM', ns .. ':svc_idx', service) == 0 then return answer(0) end
announce(ns .. ':svc_idx', 'remove')
return answer(1)
