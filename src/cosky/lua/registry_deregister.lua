-- Removes an instance from its service and announces it, also when it had expired.
-- KEYS: namespace
-- ARGV: service, id
-- Reply: 1 if it was listed; {1, why} when the message was refused
-- include cosky/lua/parts/announce.lua
local list, key = KEYS[1] .. ':svc_itc_idx:' .. ARGV[1], KEYS[1] .. ':svc_itc:' .. ARGV[2]
if redis.call('SREM', list, ARGV[2]) == 0 then return 0 end
local gone = redis.pcall('DEL', key)
if type(gone) == 'table' then
    -- Off the list and alive, nobody would see it, nor could anybody remove it.
    redis.pcall('SADD', list, ARGV[2])
    return gone
end
announce(key, 'deregister')
return answer(1)
