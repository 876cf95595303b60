-- Takes instances that have expired off the list of their service and announces each. Ours.
-- KEYS: namespace
-- ARGV: service, `1` to leave on the list what cannot be announced, ids (at most 1000)
-- Reply: those that were removed; {them, why} when a message was refused
-- include cosky/lua/parts/announce.lua
-- include cosky/lua/parts/living.lua
local removed = {}
for i = 3, #ARGV do
    local _, leaves = living(KEYS[1], ARGV[1], ARGV[i])
    if leaves and refused and ARGV[2] == '1' then
        redis.call('SADD', KEYS[1] .. ':svc_itc_idx:' .. ARGV[1], ARGV[i])
        break
    end
    if leaves then removed[#removed + 1] = ARGV[i] end
end
return answer(removed)
