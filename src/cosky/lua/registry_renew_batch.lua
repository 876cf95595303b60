-- Renews instances of one namespace, each on its own.
-- KEYS: namespace
-- ARGV: lease in s, tolerance in s, ids
-- Reply: for each id what registry_renew replies, -3 when its key or the list of its service has
--        another type; then, when a message was refused, why
-- include cosky/lua/parts/announce.lua
-- include cosky/lua/parts/lease.lua
-- include cosky/lua/parts/renew.lua
local ttl, tolerance = lease_of(ARGV[1]), tonumber(ARGV[2])
if not ttl or not tolerance then return redis.error_reply('ERR lease and tolerance must be seconds') end
local result = {}
for i = 3, #ARGV do
    local done, reply = pcall(renew, KEYS[1], ARGV[i], ttl, tolerance)
    result[i - 2] = done and reply or -3
end
result[#result + 1] = refused
return result
