-- Renews one instance.
-- KEYS: namespace
-- ARGV: id, lease in s, tolerance in s, the service that it must belong to or nothing
-- Reply: 1 renewed, 0 in its last half second, -1 persistent, -2 not there; {that, why} when a
--        message was refused
-- include cosky/lua/parts/announce.lua
-- include cosky/lua/parts/lease.lua
-- include cosky/lua/parts/service.lua
-- include cosky/lua/parts/renew.lua
local ttl, tolerance = lease_of(ARGV[2]), tonumber(ARGV[3])
if not ttl or not tolerance then return redis.error_reply('ERR lease and tolerance must be seconds') end
return answer(renew(KEYS[1], ARGV[1], ARGV[4], ttl, tolerance))
