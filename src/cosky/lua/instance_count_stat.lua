-- Counts the living instances of all services. Expired ones leave the list of their service and are
-- announced.
-- KEYS: namespace
-- Reply: how many; {that, why} when a message was refused
-- include cosky/lua/parts/announce.lua
-- include cosky/lua/parts/living.lua
local ns, total = KEYS[1], 0
for _, service in ipairs(redis.call('SMEMBERS', ns .. ':svc_idx')) do
    for _, id in ipairs(redis.call('SMEMBERS', ns .. ':svc_itc_idx:' .. service)) do
        if living(ns, service, id) ~= -2 then total = total + 1 end
    end
end
return answer(total)
