-- For `doctor`: whether this user may do what the layout's scripts do, and whether Redis takes
-- writes. What it writes is our own key, only while nobody has it, and it is gone again at the end.
-- ARGV: our own key `P:rollcall:sweep`; the number of channels, and these; then commands, each as
-- the number of its words, and these
-- Reply: {why Redis takes no writes or empty, 1 if our own key has another type, {the channels that
-- the user may not publish on}, {the commands that it may not call}}, both by their numbers. No
-- KEYS: then a user without a right to one of them would get no answer at all.
local sweep, at = ARGV[1], 2

local function words()
    local first, last = at + 1, at + tonumber(ARGV[at])
    at = last + 1
    return {unpack(ARGV, first, last)}
end

local function allowed(...)
    local known, answer = pcall(redis.acl_check_cmd, ...)
    return not known or answer
end

local silent = {}
for number, channel in ipairs(words()) do
    if not allowed('PUBLISH', channel, '') then silent[#silent + 1] = number end
end

local missing, number = {}, 0
while at <= #ARGV do
    number = number + 1
    if not allowed(unpack(words())) then missing[#missing + 1] = number end
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
return {refusal, other_type, silent, missing}
