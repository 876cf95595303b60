-- Stores one instance and announces it: ADDED when no instance was described there, else UPDATED.
-- KEYS: index of services, heartbeats of the service, hash of the instance
-- ARGV: service, id, now in ms or '' for Redis' clock, JSON document, TTL in s, channel, event tail
-- Reply: {1 if it was there before, 1 or why the message was refused}
-- Everything is checked and encoded before the first write.
-- include registry/lua/parts/now.lua
local now = now_of(ARGV[3])
local ttl = tonumber(ARGV[5]) or 0
if ttl > 1e10 then return redis.error_reply('ERR TTL is too long') end

local decoded, document = pcall(cjson.decode, ARGV[4])
if not decoded or type(document) ~= 'table' then
    return redis.error_reply('ERR the document must be a JSON object')
end
local fields, absent = {}, {}
for name, value in pairs(document) do
    if type(name) ~= 'string' then
        return redis.error_reply('ERR the document must be a JSON object')
    elseif value == cjson.null then
        absent[#absent + 1] = name
    else
        if type(value) == 'table' or name == 'metadata' or name == 'metrics' then
            value = cjson.encode(value)
        elseif type(value) == 'number' and (value ~= value or value - value ~= 0) then
            return redis.error_reply('ERR numbers must be finite')
        end
        fields[#fields + 1] = name
        fields[#fields + 1] = tostring(value)
    end
end
if #fields + #absent > 1000 then return redis.error_reply('ERR too many members') end
for _, name in ipairs({'registrationTime', 'lastMetadataUpdate', 'lastHeartbeatTime'}) do
    fields[#fields + 1] = name
    fields[#fields + 1] = now
end
local ephemeral = document.ephemeral
if ephemeral == nil or ephemeral == cjson.null then ephemeral = true end
ephemeral = string.lower(tostring(ephemeral)) == 'true'

-- The first command to meet a key of another type ends the script with nothing written; the index
-- entry is taken back when that key is the second.
local existed = redis.call('HGET', KEYS[3], 'host')
local indexed = redis.call('SADD', KEYS[1], ARGV[1])
local member = redis.pcall('ZADD', KEYS[2], now, ARGV[2])
if type(member) == 'table' then
    if indexed == 1 then redis.call('SREM', KEYS[1], ARGV[1]) end
    return member
end
if #absent > 0 then redis.call('HDEL', KEYS[3], unpack(absent)) end
redis.call('HSET', KEYS[3], unpack(fields))
if ttl > 0 and ephemeral then
    redis.call('EXPIRE', KEYS[3], string.format('%.0f', math.ceil(ttl)))
else
    redis.call('PERSIST', KEYS[3])
end

local head = '{"@class":"io.github.cuihairu.redis.streaming.registry.event.ServiceChangeEvent","action":"'
local sent = redis.pcall('PUBLISH', ARGV[6],
    head .. (existed and 'UPDATED' or 'ADDED') .. ARGV[7] .. now .. '}')
return {existed and 1 or 0, type(sent) == 'table' and sent.err or 1}
