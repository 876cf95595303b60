-- Lists a service that need not have instances.
-- KEYS: namespace
-- ARGV: service
-- Reply: 1 if it was not listed; {1, why} when the message was refused
-- include cosky/lua/parts/announce.lua
if redis.call('SADD', KEYS[1] .. ':svc_idx', ARGV[1]) == 0 then return 0 end
announce(KEYS[1] .. ':svc_idx', 'set')
redis.call('HSET', KEYS[1] .. ':svc_stat', ARGV[1], 0)
return answer(1)
