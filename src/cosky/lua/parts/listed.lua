-- The key of an instance that is described and listed under its service; nil for anything else.
local function listed(ns, id)
    local key = ns .. ':svc_itc:' .. id
    local service = redis.call('HGET', key, 'serviceId')
    if service and redis.call('SISMEMBER', ns .. ':svc_itc_idx:' .. service, id) == 1 then
        return key
    end
end
