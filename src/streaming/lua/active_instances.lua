-- Who was heard of within the timeout, by last heartbeat.
-- KEYS: heartbeats of the service
-- ARGV: now in ms or '' for Redis' clock, timeout in ms
-- Reply: {now, id, score, id, score, …}
-- include registry/lua/parts/now.lua
local now, timeout = now_of(ARGV[1]), tonumber(ARGV[2])
if not timeout then return redis.error_reply('ERR the timeout must be a number') end
local result = redis.call('ZRANGEBYSCORE', KEYS[1], '(' .. string.format('%.0f', now - timeout),
    '+inf', 'WITHSCORES')
table.insert(result, 1, now)
return result
