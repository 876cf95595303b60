-- Removes one instance and announces it, whether or not it was there.
-- KEYS: index of services, heartbeats of the service, hash of the instance
-- ARGV: service, id, now in ms or '' for Redis' clock, channel, event tail
-- Reply: {1 if it was there before, 1 or why the message was refused}
-- include registry/lua/parts/now.lua
-- include streaming/lua/parts/remove.lua
local now = now_of(ARGV[3])

local existed = redis.call('HGET', KEYS[3], 'host')
remove(KEYS[1], ARGV[1], KEYS[2], ARGV[2], KEYS[3])

local head = '{"@class":"io.github.cuihairu.redis.streaming.registry.event.ServiceChangeEvent","action":"'
local sent = redis.pcall('PUBLISH', ARGV[4], head .. 'REMOVED' .. ARGV[5] .. now .. '}')
return {existed and 1 or 0, type(sent) == 'table' and sent.err or 1}
