-- For `doctor`: whether this user may do what the other scripts do, and whether Redis takes writes.
-- What it writes is our own key, only while nobody has it, and it is gone again at the end.
-- ARGV: our own key `P:rollcall:sweep`; index, heartbeats, hash and channel of any service
-- Reply: {why Redis takes no writes or empty, 1 if our own key has another type, 1 if the user may
-- publish, each command that the user may not call, …}. No KEYS: then a user without a right to
-- one of them would get no answer at all.
local sweep, index, heartbeats, hash, channel = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]

local function allowed(...)
    local known, answer = pcall(redis.acl_check_cmd, ...)
    return not known or answer
end

local needed = {
    {'EVAL', '', '0'}, {'EVALSHA', '', '0'}, {'TIME'},
    {'SMEMBERS', index}, {'SISMEMBER', index, ''}, {'SADD', index, ''}, {'SREM', index, ''},
    {'ZRANGEBYSCORE', heartbeats, '0', '0'}, {'ZSCORE', heartbeats, ''}, {'ZCARD', heartbeats},
    {'ZADD', heartbeats, '0', ''}, {'ZREM', heartbeats, ''},
    {'HGETALL', hash}, {'HGET', hash, ''}, {'HMGET', hash, ''}, {'EXISTS', hash},
    {'HSET', hash, '', ''}, {'HDEL', hash, ''}, {'EXPIRE', hash, '1'}, {'PERSIST', hash},
    {'DEL', hash}, {'GET', sweep}, {'SET', sweep, ''}, {'DEL', sweep},
}
local missing = {}
for _, command in ipairs(needed) do
    if not allowed(unpack(command)) then
        local key = command[2] and command[2] ~= '' and (' ' .. command[2]) or ''
        missing[#missing + 1] = command[1] .. key
    end
end

local refusal, other_type = '', 0
if allowed('GET', sweep) then
    local held = redis.pcall('GET', sweep)
    if type(held) == 'table' and string.find(held.err, 'WRONGTYPE', 1, true) then other_type = 1 end
end
if allowed('SET', sweep, '') and allowed('DEL', sweep) then
    local written = redis.pcall('SET', sweep, 'doctor', 'NX', 'PX', '1')
    if type(written) == 'table' and written.err then
        refusal = written.err
    elseif written then
        redis.call('DEL', sweep)
    end
end
return {refusal, other_type, allowed('PUBLISH', channel, '') and 1 or 0, unpack(missing)}
