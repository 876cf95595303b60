#include <map>

#include "support/recorded_peer.hpp"

namespace rollcall::test {
namespace {

// Each with the faults that the specifications report: these are not ours.

constexpr auto java_register = R"(
redis.call('SADD', KEYS[1], ARGV[1])
redis.call('ZADD', KEYS[2], ARGV[3], ARGV[2])
for field, value in pairs(cjson.decode(ARGV[4])) do
    local text = tostring(value)
    if type(value) == 'table' then text = cjson.encode(value) end
    if type(value) == 'number' then text = string.format('%.0f', value) end
    if value ~= cjson.null then redis.call('HSET', KEYS[3], field, text) end
end
redis.call('HSET', KEYS[3], 'lastHeartbeatTime', ARGV[3])
redis.call('EXPIRE', KEYS[3], ARGV[5])
return 'OK'
)";

constexpr auto java_heartbeat = R"(
if redis.call('EXISTS', KEYS[2]) == 0 then return 0 end
redis.call('ZADD', KEYS[1], ARGV[2], ARGV[1])
redis.call('HSET', KEYS[2], 'lastHeartbeatTime', ARGV[2])
if redis.call('HGET', KEYS[2], 'ephemeral') == 'true' then
    redis.call('EXPIRE', KEYS[2], ARGV[6])
end
if ARGV[3] == 'metadata_update' and ARGV[4] ~= '' then
    redis.call('HSET', KEYS[2], 'metadata', ARGV[4])
    redis.call('HSET', KEYS[2], 'lastMetadataUpdate', ARGV[2])
end
return 1
)";

constexpr auto java_deregister = R"(
redis.call('ZREM', KEYS[2], ARGV[2])
redis.call('DEL', KEYS[3])
if redis.call('ZCARD', KEYS[2]) == 0 then
    redis.call('DEL', KEYS[2])
    redis.call('SREM', KEYS[1], ARGV[1])
end
return 'OK'
)";

// A Hash that is gone counts as persistent: a rest of it is written, and the id stays.
constexpr auto java_cleanup = R"(
local threshold = string.format('%.0f', ARGV[2] - ARGV[3])
local removed = {}
for _, id in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '0', threshold)) do
    local key = ARGV[4] .. ':services:' .. ARGV[1] .. ':instance:' .. id
    if redis.call('HGET', key, 'ephemeral') == 'true' then
        local flat, all = {}, redis.call('HGETALL', key)
        for i = 1, #all, 2 do flat[all[i]] = all[i + 1] end
        redis.call('ZREM', KEYS[1], id)
        redis.call('DEL', key)
        removed[#removed + 1] = id
        removed[#removed + 1] = cjson.encode(flat)
    else
        redis.call('HSET', key, 'healthy', 'false')
    end
end
return removed
)";

constexpr auto cosky_parts = R"(
local ns, key = KEYS[1], ''
local function forget_metadata()
    for _, field in ipairs(redis.call('hkeys', key)) do
        if string.sub(field, 1, 1) == '_' and not string.find(field, '__', 1, true) then
            redis.call('hdel', key, field)
        end
    end
end
)";

constexpr auto cosky_register = R"(
local ttl, service, id = ARGV[1], ARGV[2], ARGV[3]
key = ns .. ':svc_itc:' .. id
if redis.call('sadd', ns .. ':svc_itc_idx:' .. service, id) == 1 then
    if redis.call('sadd', ns .. ':svc_idx', service) == 1 then
        redis.call('publish', ns .. ':svc_idx', 'set')
        redis.call('hset', ns .. ':svc_stat', service, 0)
    end
end
forget_metadata()
redis.call('hmset', key, 'instanceId', id, 'serviceId', service, 'schema', ARGV[4], 'host', ARGV[5],
    'port', ARGV[6], 'weight', ARGV[7], 'ephemeral', tostring(ttl ~= '-1'), unpack(ARGV, 8))
redis.call('publish', key, 'register')
if ttl ~= '-1' then return redis.call('expire', key, ttl) end
redis.call('persist', key)
return 1
)";

constexpr auto cosky_renew = R"(
key = ns .. ':svc_itc:' .. ARGV[1]
local left = redis.call('ttl', key)
if left <= 0 then return left end
if redis.call('expire', key, ARGV[2]) == 0 then return 0 end
local now = tonumber(redis.call('time')[1])
local last = redis.call('hget', key, '__last_renew_pub_ttl_at')
if not last then
    last = now + left
    redis.call('hset', key, '__last_renew_pub_ttl_at', last)
end
if last - now - 5 < 0 then
    redis.call('hset', key, '__last_renew_pub_ttl_at', now + ARGV[2])
    redis.call('publish', key, 'renew')
end
return 1
)";

constexpr auto cosky_deregister = R"(
key = ns .. ':svc_itc:' .. ARGV[2]
if redis.call('srem', ns .. ':svc_itc_idx:' .. ARGV[1], ARGV[2]) == 0 then return 0 end
redis.call('publish', key, 'deregister')
return redis.call('del', key)
)";

constexpr auto cosky_set_metadata = R"(
key = ns .. ':svc_itc:' .. ARGV[1]
if #redis.call('hkeys', key) == 0 then return 0 end
forget_metadata()
redis.call('hmset', key, unpack(ARGV, 2))
redis.call('publish', key, 'set_metadata')
return 1
)";

// Without its reply, which nobody here reads.
constexpr auto cosky_get_instances = R"(
for _, id in ipairs(redis.call('smembers', ns .. ':svc_itc_idx:' .. ARGV[1])) do
    key = ns .. ':svc_itc:' .. id
    if redis.call('ttl', key) ~= -2 then
        redis.call('hgetall', key)
    elseif redis.call('srem', ns .. ':svc_itc_idx:' .. ARGV[1], id) == 1 then
        redis.call('publish', key, 'expired')
    end
end
return {}
)";

}  // namespace

std::string const* find_stand_in(std::string const& recorded_sha) {
    static auto const cosky = [](char const* text) { return std::string{cosky_parts} + text; };
    static std::map<std::string, std::string> const scripts{
        {"cf16366f5d1d53262dd1382559ea78de9e2795cd", java_register},
        {"8ba99d71fe832851aef33adf325969147f3f70ba", java_heartbeat},
        {"c4be9326ec15b9f8cc6052d5f53e7c025ae77e91", java_deregister},
        {"b962423c931a2c91e7958339e72e2b2a67455e14", java_cleanup},
        {"1ff4c1dc2af339167f57da15791465866eb0db97", cosky(cosky_register)},
        {"9e6a55cff378f0e77ccf141b5cf64605b2f850a0", cosky(cosky_renew)},
        {"0c52a4204920fc9df15860607ded057f51ea6368", cosky(cosky_deregister)},
        {"e9ec5a5667feeb1fdfdbd76b5e3ed1e7d6e22a35", cosky(cosky_set_metadata)},
        {"dfc6f2e6bf1a3dc856108f26255766447dad3da6", cosky(cosky_get_instances)}};
    auto const found = scripts.find(recorded_sha);
    return found == scripts.end() ? nullptr : &found->second;
}

}  // namespace rollcall::test
