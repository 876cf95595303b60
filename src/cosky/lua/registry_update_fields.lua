-- Writes fields of an instance over those it has: metadata (`_key`) or its weight. Announces it; the
-- lease stays. Ours.
-- KEYS: namespace, the list of the service that it must belong to
-- ARGV: id, most pairs of metadata, most bytes of them; then fields and values
-- Reply: 1 if it is registered; {1, why} when the message was refused
-- include cosky/lua/parts/announce.lua
-- include cosky/lua/parts/listed.lua
-- include cosky/lua/parts/metadata.lua
if #ARGV < 3 or #ARGV % 2 == 0 then return redis.error_reply('ERR wrong number of arguments') end
local key = listed(KEYS[1], ARGV[1], KEYS[2])
if not key then return 0 end

-- How many pairs of metadata would be added, to how many, and the same of bytes.
local function growth()
    local sizes, pairs_before, bytes_before, pairs_more, bytes_more = {}, 0, 0, 0, 0
    local stored = redis.call('HGETALL', key)
    for i = 1, #stored, 2 do
        if is_metadata(stored[i]) then
            sizes[stored[i]] = #stored[i] - 1 + #stored[i + 1]
            pairs_before, bytes_before = pairs_before + 1, bytes_before + sizes[stored[i]]
        end
    end
    for i = 4, #ARGV, 2 do
        if is_metadata(ARGV[i]) then
            local before, size = sizes[ARGV[i]], #ARGV[i] - 1 + #ARGV[i + 1]
            pairs_more, bytes_more = pairs_more + (before and 0 or 1), bytes_more + size - (before or 0)
            sizes[ARGV[i]] = size
        end
    end
    return pairs_before, pairs_more, bytes_before, bytes_more
end
-- Peers may have stored more: what does not add to that is no fault of this call.
local function too_much(before, more, most) return more > 0 and before + more > tonumber(most) end
if is_metadata(ARGV[4] or '') then
    local pairs_before, pairs_more, bytes_before, bytes_more = growth()
    if too_much(pairs_before, pairs_more, ARGV[2]) or too_much(bytes_before, bytes_more, ARGV[3]) then
        return redis.error_reply(string.format(
            'ERR the metadata would be %d pairs of %d bytes, more than %s pairs or %s bytes',
            pairs_before + pairs_more, bytes_before + bytes_more, ARGV[2], ARGV[3]))
    end
end
in_parts('HSET', key, ARGV, 4)
announce(key, 'set_metadata')
return answer(1)
