-- Takes instances that have expired off the list of their service and announces each. Ours.
-- KEYS: namespace
-- ARGV: service, ids (at most 1000)
-- Reply: those that were removed; a message that is refused is not told
-- include cosky/lua/parts/announce.lua
-- include cosky/lua/parts/living.lua
local removed = {}
for i = 2, #ARGV do
    local _, leaves = living(KEYS[1], ARGV[1], ARGV[i])
    if leaves then removed[#removed + 1] = ARGV[i] end
end
return removed
