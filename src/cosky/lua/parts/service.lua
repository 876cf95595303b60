-- Lists a service and announces it; false if it was listed. What Redis refuses of its count stops
-- nothing: counts are hints, which lag behind anyway.
local function list_service(ns, service)
    if redis.call('SADD', ns .. ':svc_idx', service) == 0 then return false end
    announce(ns .. ':svc_idx', 'set')
    redis.pcall('HSET', ns .. ':svc_stat', service, 0)
    return true
end
