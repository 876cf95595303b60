-- One instance, if it is listed under the service. An expired one leaves the list and is announced.
-- KEYS: namespace
-- ARGV: service, id
-- Reply: its fields and values, the last of them `ttl_at` if it has a lease; empty if it is not there
-- include cosky/lua/parts/announce.lua
-- include cosky/lua/parts/living.lua
-- include cosky/lua/parts/instance.lua
local ns, service, id = KEYS[1], ARGV[1], ARGV[2]
if redis.call('SISMEMBER', ns .. ':svc_itc_idx:' .. service, id) == 0 then return {} end
local left = living(ns, service, id)
return left ~= -2 and instance(ns, id, left) or {}
