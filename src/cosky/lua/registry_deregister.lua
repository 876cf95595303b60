-- Removes an instance from its service and announces it, also when it had expired.
-- KEYS: namespace
-- ARGV: service, id
-- Reply: 1 if it was listed; {1, why} when the message was refused
-- include cosky/lua/parts/announce.lua
if redis.call('SREM', KEYS[1] .. ':svc_itc_idx:' .. ARGV[1], ARGV[2]) == 0 then return 0 end
local key = KEYS[1] .. ':svc_itc:' .. ARGV[2]
redis.call('DEL', key)
announce(key, 'deregister')
return answer(1)
