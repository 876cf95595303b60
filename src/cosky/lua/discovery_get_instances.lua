-- The living instances of a service. Expired ones leave its list and are announced.
-- KEYS: namespace
-- ARGV: service
-- Reply: for each its fields and values, the last of them `ttl_at` if it has a lease
-- include cosky/lua/parts/announce.lua
-- include cosky/lua/parts/living.lua
-- include cosky/lua/parts/instance.lua
local result = {}
for _, id in ipairs(redis.call('SMEMBERS', KEYS[1] .. ':svc_itc_idx:' .. ARGV[1])) do
    local left = living(KEYS[1], ARGV[1], id)
    if left ~= -2 then result[#result + 1] = instance(KEYS[1], id, left) end
end
return result
