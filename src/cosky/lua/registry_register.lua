-- Stores an instance, lists it under its service and announces it. What was said of it before is
-- replaced; fields that are no part of a description stay. All of it is done or, when Redis refuses
-- a part, nothing is left that was not there.
-- KEYS: namespace; the key of the instance, for an answer that tells whether it was there
-- ARGV: lease in s, or -1 for a persistent one; service, id, scheme, host, port, weight; then
--       metadata fields (`_key`) and values
-- Reply: 1, with a second key 0 if no instance was described there; {that, why} when a message was
--        refused
-- include cosky/lua/parts/announce.lua
-- include cosky/lua/parts/lease.lua
-- include cosky/lua/parts/metadata.lua
-- include cosky/lua/parts/service.lua
local ns, service, id = KEYS[1], ARGV[2], ARGV[3]
local ttl = lease_of(ARGV[1])
if not ttl and ARGV[1] ~= '-1' then return redis.error_reply('ERR the lease is no number of seconds') end
if #ARGV < 7 or #ARGV % 2 == 0 then return redis.error_reply('ERR wrong number of arguments') end

local key, list = ns .. ':svc_itc:' .. id, ns .. ':svc_itc_idx:' .. service
-- A key of another type shows here, before anything is written.
local listed = redis.call('SISMEMBER', list, id) == 1
local indexed = redis.call('SISMEMBER', ns .. ':svc_idx', service) == 1
local stored = redis.call('HKEYS', key)
local described = false
local dropped = left_over(stored, 8)
for _, field in ipairs(stored) do
    if field == 'serviceId' then described = true end
    -- The next renewal reckons anew when readers must hear of it.
    if field == '__last_renew_pub_ttl_at' then dropped[#dropped + 1] = field end
end

local function store()
    -- Before anything is removed: who may not write loses nothing.
    redis.call('HSET', key, 'instanceId', id, 'serviceId', service, 'schema', ARGV[4], 'host',
        ARGV[5], 'port', ARGV[6], 'weight', ARGV[7], 'ephemeral', ttl and 'true' or 'false')
    in_parts('HSET', key, ARGV, 8)
    in_parts('HDEL', key, dropped, 1)
    if ttl then redis.call('EXPIRE', key, ttl) else redis.call('PERSIST', key) end
    if not listed then redis.call('SADD', list, id) end
    if not indexed then list_service(ns, service) end
end
local function undo()
    if #stored == 0 then
        redis.pcall('DEL', key)
    else
        -- Nothing may claim a lease that it did not get, and so live for ever.
        local lease = redis.call('TTL', key) ~= -1
        redis.pcall('HSET', key, 'ephemeral', lease and 'true' or 'false')
    end
    if not listed then redis.pcall('SREM', list, id) end
end
local done, raised = pcall(store)
if not done then
    undo()
    return type(raised) == 'table' and {err = raised.err} or redis.error_reply(raised)
end
announce(key, 'register')
return answer(KEYS[2] and not described and 0 or 1)
