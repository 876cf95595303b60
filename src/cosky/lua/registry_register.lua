-- Stores an instance, lists it under its service and announces it. What was said of it before is
-- replaced; fields that are no part of a description stay.
-- KEYS: namespace
-- ARGV: lease in s, or -1 for a persistent one; service, id, scheme, host, port, weight; then
--       metadata fields (`_key`) and values
-- Reply: 1; {1, why} when a message was refused
-- include cosky/lua/parts/announce.lua
-- include cosky/lua/parts/lease.lua
-- include cosky/lua/parts/metadata.lua
local ns, service, id = KEYS[1], ARGV[2], ARGV[3]
local ttl = lease_of(ARGV[1])
if not ttl and ARGV[1] ~= '-1' then return redis.error_reply('ERR the lease is no number of seconds') end
if #ARGV < 7 or #ARGV % 2 == 0 then return redis.error_reply('ERR wrong number of arguments') end

local key = ns .. ':svc_itc:' .. id
redis.call('SADD', ns .. ':svc_itc_idx:' .. service, id)
if redis.call('SADD', ns .. ':svc_idx', service) == 1 then
    announce(ns .. ':svc_idx', 'set')
    redis.call('HSET', ns .. ':svc_stat', service, 0)
end
clear_metadata(key)
-- The next renewal reckons anew when readers must hear of it.
redis.call('HDEL', key, '__last_renew_pub_ttl_at')
redis.call('HSET', key, 'instanceId', id, 'serviceId', service, 'schema', ARGV[4], 'host', ARGV[5],
    'port', ARGV[6], 'weight', ARGV[7], 'ephemeral', ttl and 'true' or 'false')
write_metadata(key, 8)
if ttl then redis.call('EXPIRE', key, ttl) else redis.call('PERSIST', key) end
announce(key, 'register')
return answer(1)
