-- Metadata of an instance: fields that begin with one `_`. The arguments from `first` on are such
-- fields and values.
local function clear_metadata(key)
    for _, field in ipairs(redis.call('HKEYS', key)) do
        if string.find(field, '^_') and not string.find(field, '^__') then
            redis.call('HDEL', key, field)
        end
    end
end
local function write_metadata(key, first)
    for i = first, #ARGV, 1000 do
        redis.call('HSET', key, unpack(ARGV, i, math.min(i + 999, #ARGV)))
    end
end
