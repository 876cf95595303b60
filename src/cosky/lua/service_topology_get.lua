-- Who uses whom.
-- KEYS: namespace of the consumers
-- Reply: consumer, its producers, consumer, its producers, …; nil for producers whose key is no hash
local result = {}
for _, consumer in ipairs(redis.call('HKEYS', KEYS[1] .. ':topology_idx')) do
    local producers = redis.pcall('HKEYS', KEYS[1] .. ':topology:' .. consumer)
    if producers.err and not string.find(producers.err, '^WRONGTYPE') then return producers end
    result[#result + 1] = consumer
    result[#result + 1] = not producers.err and producers
end
return result
