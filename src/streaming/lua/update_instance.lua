-- Changes fields of an instance that is there; never creates one. Score and TTL stay.
-- KEYS: hash of the instance
-- ARGV: now in ms or '' for Redis' clock, '1' to write only while `metadata` is as expected,
--       the expected metadata ('' also for none), field, value, field, value, …
-- Reply: {1 if it was there before, 1 if it was written, now, its hash as fields and values}
-- include registry/lua/parts/now.lua
local now = now_of(ARGV[1])
local stored = redis.call('HMGET', KEYS[1], 'host', 'metadata')
if not stored[1] then return {0, 0, now, {}} end
if ARGV[2] == '1' and (stored[2] or '') ~= ARGV[3] then return {1, 0, now, {}} end
local fields = {unpack(ARGV, 4)}
for i = 1, #fields, 2 do
    if fields[i] == 'metadata' then
        fields[#fields + 1] = 'lastMetadataUpdate'
        fields[#fields + 1] = now
        break
    end
end
redis.call('HSET', KEYS[1], unpack(fields))
return {1, 1, now, redis.call('HGETALL', KEYS[1])}
