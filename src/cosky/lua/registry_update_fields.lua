-- Writes fields of an instance over those it has: metadata (`_key`) or its weight. Announces it; the
-- lease stays. Ours.
-- KEYS: namespace
-- ARGV: id, then fields and values
-- Reply: 1 if it is registered; {1, why} when the message was refused
-- include cosky/lua/parts/announce.lua
-- include cosky/lua/parts/listed.lua
-- include cosky/lua/parts/metadata.lua
if #ARGV % 2 == 0 then return redis.error_reply('ERR wrong number of arguments') end
local key = listed(KEYS[1], ARGV[1])
if not key then return 0 end
write_metadata(key, 2)
announce(key, 'set_metadata')
return answer(1)
