-- Removes what has been silent for longer than the timeout: ephemeral instances for good,
-- persistent ones by marking them unhealthy. Looks at a bounded part of the candidates.
-- KEYS: heartbeats of the service, index of services
-- ARGV: service, now in ms or '' for Redis' clock, timeout in ms, effective key prefix,
--       candidates to pass over, candidates to look at
-- Reply: {now, candidates that stay, id, its hash as fields and values, id, its hash, …}
-- include registry/lua/parts/now.lua
local now, timeout = now_of(ARGV[2]), tonumber(ARGV[3])
if not timeout then return redis.error_reply('ERR the timeout must be a number') end

local ids = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf',
    '(' .. string.format('%.0f', now - timeout), 'LIMIT', ARGV[5], ARGV[6])
redis.call('SISMEMBER', KEYS[2], ARGV[1])
local base = ARGV[4] .. ':services:' .. ARGV[1] .. ':instance:'
local result, members, keys = {now, 0}, {}, {}
for _, id in ipairs(ids) do
    local key = base .. id
    local hash = redis.pcall('HGETALL', key)
    local ephemeral, healthy = 'true', 'true'
    for i = 1, #hash, 2 do
        if hash[i] == 'ephemeral' then ephemeral = hash[i + 1] end
        if hash[i] == 'healthy' then healthy = hash[i + 1] end
    end
    if hash.err then
        result[2] = result[2] + 1
    elseif string.lower(ephemeral) == 'true' then
        members[#members + 1] = id
        keys[#keys + 1] = key
        result[#result + 1] = id
        result[#result + 1] = hash
    else
        result[2] = result[2] + 1
        if string.lower(healthy) == 'true' then redis.call('HSET', key, 'healthy', 'false') end
    end
end
if #members > 0 then
    redis.call('ZREM', KEYS[1], unpack(members))
    redis.call('DEL', unpack(keys))
end
if redis.call('ZCARD', KEYS[1]) == 0 then redis.call('SREM', KEYS[2], ARGV[1]) end
return result
