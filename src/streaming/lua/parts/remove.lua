-- Removes an instance: first the service from the index, if this was its last member, so that a key
-- of another type is met before anything is written.
local function remove(index, service, heartbeats, id, hash)
    local members = redis.call('ZCARD', heartbeats)
    if members == 0 or (members == 1 and redis.call('ZSCORE', heartbeats, id)) then
        redis.call('SREM', index, service)
    end
    redis.call('ZREM', heartbeats, id)
    redis.call('DEL', hash)
end
