-- Who was heard of within the timeout and meets all filters, by last heartbeat.
-- KEYS: heartbeats of the service
-- ARGV: effective key prefix, service, now in ms or '' for Redis' clock, timeout in ms, filters:
--       '', or JSON {"metadata": {key: value, …}, "metrics": {…}}, or {key: value, …} for metadata
--       alone; an array as value: all of its elements are required
-- Reply: {now, id, score, id, score, …}
-- Whatever is stored, it only matches or does not: no odd instance spoils the query for the others.
-- include registry/lua/parts/now.lua
local now, timeout = now_of(ARGV[3]), tonumber(ARGV[4])
if not timeout then return redis.error_reply('ERR the timeout must be a number') end

local operators = {['=='] = true, ['!='] = true, ['>'] = true, ['>='] = true, ['<'] = true, ['<='] = true}

-- Appends to `wanted` what a filter key demands of its field; false if the value cannot be compared.
local function demand(wanted, key, value)
    if type(value) == 'table' then
        for _, element in ipairs(value) do
            if type(element) == 'table' or not demand(wanted, key, element) then return false end
        end
        return #value > 0
    end
    if value == cjson.null then return false end
    local field, operator = string.match(key, '^(.*):([^:]*)$')
    if not operators[operator] then field, operator = key, '==' end
    local text = tostring(value)
    wanted[#wanted + 1] = {field = field, operator = operator, text = text, number = tonumber(text)}
    return true
end

local function parse(section)
    local wanted = {}
    for key, value in pairs(section) do
        if type(key) ~= 'string' or not demand(wanted, key, value) then return nil end
    end
    return wanted
end

local document = {}
if ARGV[5] ~= '' then
    local decoded
    decoded, document = pcall(cjson.decode, ARGV[5])
    if not decoded or type(document) ~= 'table' then
        return redis.error_reply('ERR the filters must be a JSON object')
    end
end
local sectioned = type(document.metadata) == 'table' or type(document.metrics) == 'table'
local sections = sectioned and document or {metadata = document}
local filters = {}
for i, name in ipairs({'metadata', 'metrics'}) do
    local section = sections[name]
    filters[i] = parse(type(section) == 'table' and section or {})
    if not filters[i] then return redis.error_reply('ERR filter values must be text') end
end

local function compare(operator, actual, expected)
    if operator == '==' then return actual == expected end
    if operator == '!=' then return actual ~= expected end
    if operator == '>' then return actual > expected end
    if operator == '>=' then return actual >= expected end
    if operator == '<' then return actual < expected end
    return actual <= expected
end

local function meets(text, wanted)
    if #wanted == 0 then return true end
    if not text then return false end
    local decoded, values = pcall(cjson.decode, text)
    if not decoded or type(values) ~= 'table' then return false end
    for _, filter in ipairs(wanted) do
        local value = values[filter.field]
        if value == nil or value == cjson.null then return false end
        if type(value) == 'table' then
            if filter.operator ~= '!=' then return false end
        else
            local actual = tostring(value)
            local number = filter.number and tonumber(value)
            local met
            if number then
                met = compare(filter.operator, number, filter.number)
            else
                met = compare(filter.operator, actual, filter.text)
            end
            if not met then return false end
        end
    end
    return true
end

local found = redis.call('ZRANGEBYSCORE', KEYS[1], '(' .. string.format('%.0f', now - timeout),
    '+inf', 'WITHSCORES')
local result = {now}
local filtering = #filters[1] + #filters[2] > 0
local base = ARGV[1] .. ':services:' .. ARGV[2] .. ':instance:'
for i = 1, #found, 2 do
    local matches = not filtering
    if filtering then
        local stored = redis.pcall('HMGET', base .. found[i], 'metadata', 'metrics')
        if stored.err and not string.find(stored.err, '^WRONGTYPE') then return stored end
        matches = not stored.err and meets(stored[1], filters[1]) and meets(stored[2], filters[2])
    end
    if matches then
        result[#result + 1] = found[i]
        result[#result + 1] = found[i + 1]
    end
end
return result
