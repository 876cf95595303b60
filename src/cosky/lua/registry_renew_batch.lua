-- Renews instances of one namespace, each on its own.
-- KEYS: namespace
-- ARGV: lease in s, tolerance in s; then for each instance its service and id
-- Reply: for each what registry_renew replies, -3 when its key or the list of its service has
--        another type, else what Redis said when it refused; then, when a message was refused, why
-- include cosky/lua/parts/announce.lua
-- include cosky/lua/parts/lease.lua
-- include cosky/lua/parts/service.lua
-- include cosky/lua/parts/renew.lua
local ttl, tolerance = lease_of(ARGV[1]), tonumber(ARGV[2])
if not ttl or not tolerance then return redis.error_reply('ERR lease and tolerance must be seconds') end
if #ARGV % 2 == 1 then return redis.error_reply('ERR wrong number of arguments') end
-- Whoever asked must hear that Redis takes no writes, or not from them: that is not the instance's.
local function refusal(raised)
    local said = type(raised) == 'table' and raised.err or tostring(raised)
    return string.find(said, 'WRONGTYPE', 1, true) and -3 or said
end
local result = {}
for i = 3, #ARGV, 2 do
    local done, reply = pcall(renew, KEYS[1], ARGV[i + 1], ARGV[i], ttl, tolerance)
    result[#result + 1] = done and reply or refusal(reply)
end
result[#result + 1] = refused
return result
