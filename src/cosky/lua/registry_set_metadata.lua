-- Replaces the metadata of an instance and announces it. The lease stays.
-- KEYS: namespace
-- ARGV: id, then metadata fields (`_key`) and values
-- Reply: 1 if it is registered; {1, why} when the message was refused
-- include cosky/lua/parts/announce.lua
-- include cosky/lua/parts/listed.lua
-- include cosky/lua/parts/metadata.lua
if #ARGV % 2 == 0 then return redis.error_reply('ERR wrong number of arguments') end
local key = listed(KEYS[1], ARGV[1])
if not key then return 0 end
clear_metadata(key)
write_metadata(key, 2)
announce(key, 'set_metadata')
return answer(1)
