-- When the lease of an instance ends. An expired one leaves the list and is announced.
-- KEYS: namespace
-- ARGV: service, id
-- Reply: epoch seconds; -1 persistent, -2 not listed under the service
-- include cosky/lua/parts/announce.lua
-- include cosky/lua/parts/living.lua
local ns, service, id = KEYS[1], ARGV[1], ARGV[2]
if redis.call('SISMEMBER', ns .. ':svc_itc_idx:' .. service, id) == 0 then return -2 end
local left = living(ns, service, id)
return left < 0 and left or redis.call('TIME')[1] + left
