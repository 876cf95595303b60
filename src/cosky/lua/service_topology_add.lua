-- Records that a consumer uses a producer.
-- KEYS: namespace of the consumer
-- ARGV: consumer, producer; then, if its edges expire, after how many seconds
-- Reply: nil
-- Without expiry the time of the first mention stays. With it the time is that of the last one, and
-- what the consumer did not mention for so long is removed.
local ns, consumer, producer = KEYS[1], ARGV[1], ARGV[2]
local index, edges = ns .. ':topology_idx', ns .. ':topology:' .. consumer
local now = redis.call('TIME')[1]
-- The edges first: where they are refused, the index gets no consumer without any.
redis.call(ARGV[3] and 'HSET' or 'HSETNX', edges, producer, now)
redis.call('HSETNX', index, consumer, now)
if not ARGV[3] then return end
local known = redis.call('HGETALL', edges)
for i = 1, #known, 2 do
    local since = tonumber(known[i + 1])
    if since and since < now - ARGV[3] then redis.call('HDEL', edges, known[i]) end
end
