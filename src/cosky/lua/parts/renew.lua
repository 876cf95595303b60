-- Begins the lease of an instance again, in seconds. Announced only when what readers last heard of
-- it ends within the tolerance. Gives what TTL gave when that was no lease, -2 also for what is not
-- listed under its service, or, when one is given, is of another service; else 1.
local now  -- Asked for once in a call: to ask each time costs a fifth of a renewal.
local seen = {}
-- A service that has instances is listed again if somebody dropped it. Redis may refuse that: no
-- reason not to renew.
local function see(ns, service)
    if seen[service] then return end
    seen[service] = true
    pcall(list_service, ns, service)
end
local function renew(ns, id, service, ttl, tolerance)
    local key = ns .. ':svc_itc:' .. id
    local left = redis.call('TTL', key)
    if left == -2 or left == 0 then return left end
    local found = redis.call('HMGET', key, 'serviceId', '__last_renew_pub_ttl_at')
    local its = found[1]
    if not its or (service or its) ~= its or
        redis.call('SISMEMBER', ns .. ':svc_itc_idx:' .. its, id) == 0 then
        return -2
    end
    see(ns, its)
    if left == -1 then return left end
    if redis.call('EXPIRE', key, ttl) == 0 then return 0 end
    now = now or tonumber(redis.call('TIME')[1])
    local stored = string.find(found[2] or '', '^%d+$') and tonumber(found[2])
    local last = stored or now + left
    if now > last - tolerance then
        redis.call('HSET', key, '__last_renew_pub_ttl_at', string.format('%.0f', now + ttl))
        announce(key, 'renew')
    elseif not stored then
        redis.call('HSET', key, '__last_renew_pub_ttl_at', string.format('%.0f', last))
    end
    return 1
end
