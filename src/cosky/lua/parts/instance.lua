-- An instance as its fields and values, with `ttl_at` when it has a lease; nil when its key is no
-- hash.
local now = tonumber(redis.call('TIME')[1])
local function instance(ns, id, left)
    local fields = redis.pcall('HGETALL', ns .. ':svc_itc:' .. id)
    if fields.err then return nil end
    if left >= 0 then
        fields[#fields + 1] = 'ttl_at'
        fields[#fields + 1] = string.format('%.0f', now + left)
    end
    return fields
end
