-- Counts the living instances of all services. Expired ones leave the list of their service and are
-- announced. A service whose list is none is left out.
-- KEYS: namespace
-- Reply: how many; {that, why} when a message was refused
-- include cosky/lua/parts/announce.lua
-- include cosky/lua/parts/living.lua
-- include cosky/lua/parts/ids.lua
local ns, total = KEYS[1], 0
for _, service in ipairs(redis.call('SMEMBERS', ns .. ':svc_idx')) do
    for _, id in ipairs(ids_of(ns .. ':svc_itc_idx:' .. service) or {}) do
        if living(ns, service, id) ~= -2 then total = total + 1 end
    end
end
return answer(total)
