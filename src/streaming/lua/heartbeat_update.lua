-- Renews instances of one service. What is not described there is left alone.
-- KEYS: heartbeats of the service, hash of each instance
-- ARGV: now in ms or '' for Redis' clock, TTL in s, mode, channel, then for each instance its id,
--       with mode metadata_update followed by metadata JSON ('' = keep) and event tail ('' = none)
-- Reply: for each instance 1 written, 0 gone, -1 its key is no hash;
--        then, when a message was refused, why
-- All reads come first: a key of another type is met before anything is written.
-- include registry/lua/parts/now.lua
local now = now_of(ARGV[1])
local ttl = tonumber(ARGV[2]) or 0
if ttl > 1e10 then return redis.error_reply('ERR TTL is too long') end
local lease = ttl > 0 and string.format('%.0f', math.ceil(ttl))
local describing = ARGV[3] == 'metadata_update'
if not describing and ARGV[3] ~= 'heartbeat_only' then
    return redis.error_reply('ERR unknown mode')
end

local width = describing and 3 or 1
local result, members, persistent, healing = {}, {}, {}, {}
for i = 1, #KEYS - 1 do
    local found = redis.pcall('HMGET', KEYS[i + 1], 'host', 'ephemeral', 'healthy')
    if found.err then
        if not string.find(found.err, '^WRONGTYPE') then return found end
        result[i] = -1
    elseif not found[1] then
        result[i] = 0
    else
        result[i] = 1
        members[#members + 1] = now
        members[#members + 1] = ARGV[5 + (i - 1) * width]
        if found[2] and found[2] ~= 'true' and string.lower(found[2]) ~= 'true' then
            persistent[i] = true
            healing[i] = found[3] and string.lower(found[3]) ~= 'true'
        end
    end
end
if #members == 0 then return result end
local listed = redis.pcall('ZADD', KEYS[1], unpack(members))
if type(listed) == 'table' then
    if not string.find(listed.err, 'OOM') then return listed end
    -- A full Redis refuses what may take memory, unless the script has written before. What is
    -- renewed is there already: who lives must not run out for want of memory that nobody takes.
    redis.call('ZREM', KEYS[1], '')
    redis.call('ZADD', KEYS[1], unpack(members))
end

local head = '{"@class":"io.github.cuihairu.redis.streaming.registry.event.ServiceChangeEvent","action":"UPDATED'
local refused
for i = 1, #KEYS - 1 do
    if result[i] == 1 then
        local key = KEYS[i + 1]
        local metadata = describing and ARGV[6 + (i - 1) * width] or ''
        if metadata ~= '' then
            redis.call('HSET', key, 'lastHeartbeatTime', now, 'metadata', metadata,
                'lastMetadataUpdate', now)
        else
            redis.call('HSET', key, 'lastHeartbeatTime', now)
        end
        if healing[i] then redis.call('HSET', key, 'healthy', 'true') end
        if lease and not persistent[i] then redis.call('EXPIRE', key, lease) end
        local tail = describing and ARGV[7 + (i - 1) * width] or ''
        if tail ~= '' then
            local sent = redis.pcall('PUBLISH', ARGV[4], head .. tail .. now .. '}')
            if type(sent) == 'table' then refused = sent.err end
        end
    end
end
if refused then result[#result + 1] = refused end
return result
