-- The key of an instance that is described and listed under its service; nil for anything else, and
-- when that service is not the one whose list is given.
local function listed(ns, id, list)
    local key = ns .. ':svc_itc:' .. id
    local service = redis.call('HGET', key, 'serviceId')
    local its_list = service and ns .. ':svc_itc_idx:' .. service
    if its_list and (list or its_list) == its_list and
        redis.call('SISMEMBER', its_list, id) == 1 then
        return key
    end
end
