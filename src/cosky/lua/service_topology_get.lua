-- Who uses whom.
-- KEYS: namespace of the consumers
-- Reply: consumer, its producers, consumer, its producers, …
local result = {}
for _, consumer in ipairs(redis.call('HKEYS', KEYS[1] .. ':topology_idx')) do
    result[#result + 1] = consumer
    result[#result + 1] = redis.call('HKEYS', KEYS[1] .. ':topology:' .. consumer)
end
return result
