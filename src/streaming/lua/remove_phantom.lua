-- Removes a hash that describes no instance (it has no `host`) together with its member.
-- KEYS: index of services, heartbeats of the service, hash of the instance
-- ARGV: service, id
-- Reply: 1 if it was such a hash
-- include streaming/lua/parts/remove.lua
if redis.call('EXISTS', KEYS[3]) == 0 or redis.call('HGET', KEYS[3], 'host') then return 0 end
remove(KEYS[1], ARGV[1], KEYS[2], ARGV[2], KEYS[3])
return 1
