-- Changes what clients report of an instance in its `metrics`. All else in that document stays as it
-- is, byte for byte: decoded and encoded again, numbers would change their text.
-- KEYS: hash of the instance
-- ARGV: '1' to write only where an instance is described, change of `clientInflight` or '',
--       `clientLatencyMs` or '', '1' for a success, '0' for a failure or '',
--       weight of that in `clientErrorRate`
-- Reply: 1 written, 0 no such instance, -1 `metrics` is no JSON object of 1 MiB at most
local key = KEYS[1]
local stored = redis.call('HMGET', key, 'host', 'metrics')
if ARGV[1] == '1' and not stored[1] then return 0 end
local text = stored[2] or ''
if #text > 1048576 then return -1 end
if not string.find(text, '%S') or string.find(text, '^%s*null%s*$') then text = '{}' end
if not string.find(text, '^%s*{') or not pcall(cjson.decode, text) then return -1 end

local function string_end(at)
    repeat
        at = string.find(text, '["\\]', at + 1)
        local byte = string.byte(text, at)
        if byte == 92 then at = at + 1 end
    until byte == 34
    return at
end

local function value_end(at)
    local first = string.sub(text, at, at)
    if first == '"' then return string_end(at) end
    if first ~= '{' and first ~= '[' then return string.find(text, '[%s,}]', at) - 1 end
    local depth = 1
    repeat
        at = string.find(text, '["%[%]{}]', at + 1)
        local found = string.sub(text, at, at)
        if found == '"' then
            at = string_end(at)
        else
            depth = depth + ((found == '{' or found == '[') and 1 or -1)
        end
    until depth == 0
    return at
end

-- Where the values of ours stand, and the last of each, which is the one that counts.
local ours = {clientInflight = true, clientLatencyMs = true, clientErrorRate = true}
local places, values, members = {}, {}, 0
local at = string.find(text, '{', 1, true) + 1
while true do
    at = string.find(text, '[^%s,]', at)
    if string.sub(text, at, at) == '}' then break end
    local name_end = string_end(at)
    local name = cjson.decode('[' .. string.sub(text, at, name_end) .. ']')[1]
    local from = string.find(text, '[^%s:]', name_end + 1)
    local to = value_end(from)
    members = members + 1
    if ours[name] then
        places[#places + 1] = {name = name, from = from, to = to}
        values[name] = string.match(string.sub(text, from, to), '^"?(.-)"?$')
    end
    at = to + 1
end
local last = at

local function number_in(value, pattern)
    return value and string.find(value, pattern) and tonumber(value) or 0
end

-- The shortest text that is read as the same number, with a fraction as Java writes it.
local function double_text(value)
    for digits = 15, 17 do
        local shortest = string.format('%.' .. digits .. 'g', value)
        if tonumber(shortest) == value then
            return string.find(shortest, '[.e]') and shortest or shortest .. '.0'
        end
    end
end

local news = {}
if ARGV[2] ~= '' then
    local inflight = number_in(values.clientInflight, '^[+-]?%d+$')
    if inflight >= 1e15 then inflight = 0 end
    news.clientInflight = string.format('%.0f', math.max(0, inflight + tonumber(ARGV[2])))
end
if ARGV[3] ~= '' then news.clientLatencyMs = ARGV[3] end
if ARGV[4] ~= '' then
    local before = number_in(values.clientErrorRate, '^[+-]?%d+%.?%d*[eE]?[+-]?%d*$')
    local alpha = tonumber(ARGV[5])
    before = math.min(100, math.max(0, before))
    news.clientErrorRate =
        double_text(alpha * (ARGV[4] == '0' and 100 or 0) + (1 - alpha) * before)
end

local parts, copied = {}, 1
for _, place in ipairs(places) do
    if news[place.name] then
        parts[#parts + 1] = string.sub(text, copied, place.from - 1)
        parts[#parts + 1] = news[place.name]
        copied = place.to + 1
    end
end
parts[#parts + 1] = string.sub(text, copied, last - 1)
for _, name in ipairs({'clientInflight', 'clientLatencyMs', 'clientErrorRate'}) do
    if news[name] and not values[name] then
        parts[#parts + 1] = (members > 0 and ',"' or '"') .. name .. '":' .. news[name]
        members = members + 1
    end
end
parts[#parts + 1] = string.sub(text, last)
redis.call('HSET', key, 'metrics', table.concat(parts))
return 1
