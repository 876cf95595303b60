-- Who was heard of within the timeout, by last heartbeat.
-- KEYS: heartbeats of the service
-- ARGV: now in ms or '' for Redis' clock, timeout in ms
-- Reply: {now, id, score, id, score, …}
local now = tonumber(ARGV[1])
if ARGV[1] == '' then
    local time = redis.call('TIME')
    now = time[1] * 1000 + math.floor(time[2] / 1000)
end
local timeout = tonumber(ARGV[2])
if not now or not timeout then return redis.error_reply('ERR now and timeout must be numbers') end
local result = redis.call('ZRANGEBYSCORE', KEYS[1], '(' .. string.format('%.0f', now - timeout),
    '+inf', 'WITHSCORES')
table.insert(result, 1, string.format('%.0f', now))
return result
