-- Removes and announces what has been silent for longer than the timeout: ephemeral instances for
-- good, persistent ones by marking them unhealthy. Looks at a bounded part of the candidates.
-- An instance goes only together with its announcement: of one that has no event tail here the hash
-- is told, so that the next call can bring the tail.
-- KEYS: heartbeats of the service, index of services
-- ARGV: service, now in ms or '' for Redis' clock, timeout in ms, effective key prefix, channel,
--       candidates to pass over, candidates to look at, then ids, each with its event tail
-- Reply: {now, candidates that stay, why a message was refused or '', removed ids,
--         id, its hash as fields and values, id, its hash, …}
-- include registry/lua/parts/now.lua
local now, timeout = now_of(ARGV[2]), tonumber(ARGV[3])
if not timeout then return redis.error_reply('ERR the timeout must be a number') end

local ids = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf',
    '(' .. string.format('%.0f', now - timeout), 'LIMIT', ARGV[6], ARGV[7])
redis.call('SISMEMBER', KEYS[2], ARGV[1])
local tails = {}
for i = 8, #ARGV, 2 do tails[ARGV[i]] = ARGV[i + 1] end
local base = ARGV[4] .. ':services:' .. ARGV[1] .. ':instance:'
local kept, members, keys, untold = 0, {}, {}, {}
for _, id in ipairs(ids) do
    local key = base .. id
    local hash = redis.pcall('HGETALL', key)
    local ephemeral, healthy = 'true', 'true'
    for i = 1, #hash, 2 do
        if hash[i] == 'ephemeral' then ephemeral = hash[i + 1] end
        if hash[i] == 'healthy' then healthy = hash[i + 1] end
    end
    if hash.err then
        if not string.find(hash.err, '^WRONGTYPE') then return hash end
        kept = kept + 1
    elseif string.lower(ephemeral) ~= 'true' then
        kept = kept + 1
        if string.lower(healthy) == 'true' then redis.call('HSET', key, 'healthy', 'false') end
    elseif tails[id] then
        members[#members + 1] = id
        keys[#keys + 1] = key
    else
        untold[#untold + 1] = id
        untold[#untold + 1] = hash
    end
end
if #members > 0 then
    redis.call('ZREM', KEYS[1], unpack(members))
    redis.call('DEL', unpack(keys))
end
if redis.call('ZCARD', KEYS[1]) == 0 then redis.call('SREM', KEYS[2], ARGV[1]) end

local head = '{"@class":"io.github.cuihairu.redis.streaming.registry.event.ServiceChangeEvent","action":"REMOVED'
local refused = ''
for _, id in ipairs(members) do
    local sent = redis.pcall('PUBLISH', ARGV[5], head .. tails[id] .. now .. '}')
    if type(sent) == 'table' then refused = sent.err end
end
return {now, kept, refused, members, unpack(untold)}
