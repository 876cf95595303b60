# shellcheck shell=bash disable=SC2034  # read by mutate.sh
# name | script | what stands there | what is put in its place
mutations=(
    'inclusive bound of cleanup|cleanup_expired|'"'(' .. string.format('%.0f', now - timeout)"'|string.format('"'%.0f'"', now - timeout)'
    'cleanup from zero on|cleanup_expired|'"'-inf'"'|'"'0'"
    'missing ephemeral counts as persistent|cleanup_expired|'"local ephemeral, healthy = 'true', 'true'"'|'"local ephemeral, healthy = 'nil', 'true'"
    'ephemeral compared by case|cleanup_expired|string.lower(ephemeral)|ephemeral'
    'persistent removed|cleanup_expired|elseif string.lower(ephemeral) ~= '"'true'"' then|elseif false then'
    'persistent not marked|cleanup_expired|'"if string.lower(healthy) == 'true' then redis.call('HSET', key, 'healthy', 'false') end"'|'
    'members left behind|cleanup_expired|'"redis.call('ZREM', KEYS[1], unpack(members))"'|'
    'hashes left behind|cleanup_expired|'"redis.call('DEL', unpack(keys))"'|'
    'index left behind|cleanup_expired|'"if redis.call('ZCARD', KEYS[1]) == 0 then redis.call('SREM', KEYS[2], ARGV[1]) end"'|'
    'inclusive bound of discovery|active_instances|'"'(' .. string.format"'|string.format'
    'inclusive bound of queries|query_instances|'"'(' .. string.format('%.0f', now - timeout)"'|string.format('"'%.0f'"', now - timeout)'
    'missing PERSIST|register_instance|'"redis.call('PERSIST', KEYS[3])"'|'
    'TTL for persistent instances|register_instance|if ttl > 0 and ephemeral then|if ttl > 0 then'
    'absent fields kept|register_instance|'"if #absent > 0 then redis.call('HDEL', KEYS[3], unpack(absent)) end"'|'
    'phantom counts as registered|register_instance|'"redis.call('HGET', KEYS[3], 'host')"'|'"redis.call('EXISTS', KEYS[3]) == 1"
    'no index entry|register_instance|'"redis.call('SADD', KEYS[1], ARGV[1])"'|0'
    'wrong action|register_instance|'"(existed and 'UPDATED' or 'ADDED')"'|'"'ADDED'"
    'registration time kept|register_instance|'"'registrationTime', 'lastMetadataUpdate'"'|'"'lastMetadataUpdate'"
    'no phantom check|heartbeat_update|elseif not found[1] then|elseif not (found[1] or found[2] or found[3]) then'
    'TTL not slid|heartbeat_update|'"if lease and not persistent[i] then redis.call('EXPIRE', key, lease) end"'|'
    'TTL for heartbeats of persistent instances|heartbeat_update|if lease and not persistent[i] then|if lease then'
    'missing ephemeral does not slide|heartbeat_update|'"if found[2] and found[2] ~= 'true'"'|'"if found[2] ~= 'true' and (found[2] or '')"
    'not healed|heartbeat_update|'"if healing[i] then redis.call('HSET', key, 'healthy', 'true') end"'|'
    'ephemeral healed|heartbeat_update|'"            persistent[i] = true
            healing[i]"'|'"            persistent[i] = true
        end
        if true then
            healing[i]"
    'metadata without its time|heartbeat_update|'"'metadata', metadata,
                'lastMetadataUpdate', now)"'|'"'metadata', metadata)"
    'metadata of the neighbour|heartbeat_update|ARGV[6 + (i - 1) * width]|ARGV[6]'
    'gone told as written|heartbeat_update|result[i] = 0|result[i] = 1'
    'score not moved|heartbeat_update|'"redis.pcall('ZADD', KEYS[1], unpack(members))"'|0'
    'heartbeat not announced|heartbeat_update|'"if tail ~= '' then"'|'"if false then"
    'deregistered told as absent|deregister_instance|existed and 1 or 0|0'
    'removal keeps the member|parts/remove|'"redis.call('ZREM', heartbeats, id)"'|'
    'removal keeps the hash|parts/remove|'"redis.call('DEL', hash)"'|'
    'removal keeps the index|parts/remove|'"redis.call('SREM', index, service)"'|local kept = true'
    'removal drops the index|parts/remove|members == 1 and|members > 0 and'
    'null is a value|query_instances|if value == nil or value == cjson.null then return false end|if value == nil then return false end'
    'numbers compared as text|query_instances|local number = filter.number and tonumber(value)|local number = nil'
    'operator read from the first colon|query_instances|'"'^(.*):([^:]*)\$'"'|'"'^([^:]*):(.*)\$'"
    'greater or equal is greater|query_instances|return actual >= expected|return actual > expected'
    'objects never differ|query_instances|'"if filter.operator ~= '!=' then return false end"'|return false'
    'first filter only|query_instances|if not met then return false end|return met'
    'metrics not asked|query_instances|and meets(stored[2], filters[2])|'
    'update renews|update_instance|'"redis.call('HSET', KEYS[1], unpack(fields))"'|'"redis.call('HSET', KEYS[1], 'lastHeartbeatTime', now, unpack(fields))"
    'update creates|update_instance|'"if not stored[1] then return {0, 0, now, {}} end"'|'
    'phantom removal takes all|remove_phantom|'" or redis.call('HGET', KEYS[3], 'host')"'|'
)
