-- Replaces the metadata of an instance and announces it. The lease stays.
-- KEYS: namespace; the list of the service that it must belong to, or nothing
-- ARGV: id, then metadata fields (`_key`) and values
-- Reply: 1 if it is registered; {1, why} when the message was refused
-- include cosky/lua/parts/announce.lua
-- include cosky/lua/parts/listed.lua
-- include cosky/lua/parts/metadata.lua
if #ARGV % 2 == 0 then return redis.error_reply('ERR wrong number of arguments') end
local key = listed(KEYS[1], ARGV[1], KEYS[2])
if not key then return 0 end
local dropped = left_over(redis.call('HKEYS', key), 2)
-- Before anything is removed: who may not write loses nothing.
in_parts('HSET', key, ARGV, 2)
in_parts('HDEL', key, dropped, 1)
announce(key, 'set_metadata')
return answer(1)
