-- The TTL of a listed instance, -2 if it has expired: then it leaves the list and is announced.
-- Also whether it did, which it does only once.
local function living(ns, service, id)
    local key = ns .. ':svc_itc:' .. id
    local left = redis.call('TTL', key)
    local leaves = left == -2 and redis.call('SREM', ns .. ':svc_itc_idx:' .. service, id) == 1
    if leaves then announce(key, 'expired') end
    return left, leaves
end
