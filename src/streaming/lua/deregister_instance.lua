-- Removes one instance and announces it, whether or not it was there.
-- KEYS: index of services, heartbeats of the service, hash of the instance
-- ARGV: service, id, now in ms or '' for Redis' clock, channel, event tail
-- Reply: {1 if it was there before, 1 or why the message was refused}
local now = ARGV[3]
if now == '' then
    local time = redis.call('TIME')
    now = string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000))
elseif not tonumber(now) then
    return redis.error_reply('ERR now must be a number')
end

-- The index entry goes first, so that a key of another type is met before anything is written.
local existed = redis.call('HGET', KEYS[3], 'host')
local members = redis.call('ZCARD', KEYS[2])
if members == 0 or (members == 1 and redis.call('ZSCORE', KEYS[2], ARGV[2])) then
    redis.call('SREM', KEYS[1], ARGV[1])
end
redis.call('ZREM', KEYS[2], ARGV[2])
redis.call('DEL', KEYS[3])

local head = '{"@class":"io.github.cuihairu.redis.streaming.registry.event.ServiceChangeEvent","action":"'
local sent = redis.pcall('PUBLISH', ARGV[4], head .. 'REMOVED' .. ARGV[5] .. now .. '}')
return {existed and 1 or 0, type(sent) == 'table' and sent.err or 1}
