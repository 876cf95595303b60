-- Takes, extends or gives up the right to do the housekeeping of a prefix.
-- KEYS: our own key `P:rollcall:sweep`
-- ARGV: token of the asking process, ms to hold it (0 = give it up)
-- Reply: 1 if it is ours now (given up: was ours)
local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[1] then
    -- What never ends is no lease, and would stop the housekeeping for good: it gets an end. Asked
    -- by EXPIRE, a right that those who sweep have anyway.
    if ARGV[2] ~= '0' then
        redis.pcall('EXPIRE', KEYS[1], math.ceil(ARGV[2] / 1000), 'NX')
    end
    return 0
end
if ARGV[2] == '0' then
    redis.call('DEL', KEYS[1])
else
    redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
end
return 1
