-- Removes a hash that describes no instance (it has no `host`) together with its member.
-- KEYS: index of services, heartbeats of the service, hash of the instance
-- ARGV: service, id
-- Reply: 1 if it was such a hash
if redis.call('EXISTS', KEYS[3]) == 0 or redis.call('HGET', KEYS[3], 'host') then return 0 end
local members = redis.call('ZCARD', KEYS[2])
if members == 0 or (members == 1 and redis.call('ZSCORE', KEYS[2], ARGV[2])) then
    redis.call('SREM', KEYS[1], ARGV[1])
end
redis.call('ZREM', KEYS[2], ARGV[2])
redis.call('DEL', KEYS[3])
return 1
