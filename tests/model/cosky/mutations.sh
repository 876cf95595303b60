# shellcheck shell=bash disable=SC2034  # read by mutate.sh
# name | script | what stands there | what is put in its place
mutations=(
    'persistent gets a TTL|registry_register|'"if ttl then redis.call('EXPIRE', key, ttl) else redis.call('PERSIST', key) end"'|'"redis.call('EXPIRE', key, ttl or 60)"
    'missing PERSIST|registry_register|'" else redis.call('PERSIST', key) end"'| end'
    'no TTL|registry_register|'"if ttl then redis.call('EXPIRE', key, ttl) else"'|'"if not ttl then"
    'old metadata kept|registry_register|left_over(stored, 8)|{}'
    'its own metadata removed|parts/metadata|brought[ARGV[i]] = true|brought[ARGV[i + 1]] = true'
    'system field kept|registry_register|'"dropped[#dropped + 1] = field end
end"'|'"field = nil end
end"
    'not listed|registry_register|'"if not listed then redis.call('SADD', list, id) end
    if"'|if'
    'index only with a new member|registry_register|if not indexed then|if not indexed and not listed then'
    'service not announced|parts/service|'"announce(ns .. ':svc_idx', 'set')"'|'
    'count not begun|parts/service|'"redis.pcall('HSET', ns .. ':svc_stat', service, 0)"'|'
    'count begun anew|registry_register|'"in_parts('HSET', key, ARGV, 8)"'|'"in_parts('HSET', key, ARGV, 8)
redis.call('HSET', ns .. ':svc_stat', service, 0)"
    'half a registration|registry_register|'"local stored = redis.call('HKEYS', key)"'|'"if not listed then redis.call('SADD', list, id) end
local stored = redis.call('HKEYS', key)"
    'always ephemeral|registry_register|'"ttl and 'true' or 'false'"'|'"'true'"
    'weight lost|registry_register|'"'weight', ARGV[7]"'|'"'weight', 1"
    'metadata of a registration lost|registry_register|'"in_parts('HSET', key, ARGV, 8)"'|'"in_parts('HSET', key, ARGV, 10)"
    'registration not announced|registry_register|'"announce(key, 'register')"'|'
    'deregistration of what is not listed|registry_deregister|== 0 then return 0 end|== 2 then return 0 end'
    'Hash left behind|registry_deregister|'"redis.pcall('DEL', key)"'|1'
    'deregistration not announced|registry_deregister|'"announce(key, 'deregister')"'|'
    'told by DEL|registry_deregister|return answer(1)|return answer(gone)'
    'persistent renewed|parts/renew|if left == -1 then return left end|'
    'missing told as persistent|parts/renew|if left == -2 or left == 0 then return left end|if left == -2 or left == 0 then return -1 end'
    'headless renewed|parts/renew|if not its or|if its and'
    'unlisted renewed|parts/renew|'" or
        redis.call('SISMEMBER', ns .. ':svc_itc_idx:' .. its, id) == 0"'|'
    'persistent before all else|parts/renew|if left == -2 or left == 0 then return left end|if left <= 0 then return left end'
    'dropped service forgotten|parts/renew|pcall(list_service, ns, service)|'
    'not renewed|parts/renew|'"if redis.call('EXPIRE', key, ttl) == 0 then return 0 end"'|'
    'stored text believed|parts/renew|'"string.find(found[2] or '', '^%d+\$') and tonumber(found[2])"'|'"found[2] and (tonumber(string.match(found[2], '^%d+')) or 0)"
    'stored number not read|parts/renew|'"string.find(found[2] or '', '^%d+\$') and tonumber(found[2])"'|nil'
    'announced a second early|parts/renew|now > last - tolerance|now >= last - tolerance'
    'announced a second late|parts/renew|now > last - tolerance|now > last - tolerance + 1'
    'no tolerance|parts/renew|now > last - tolerance|now > last - 5'
    'renewal always announced|parts/renew|if now > last - tolerance then|if true then'
    'renewal never announced|parts/renew|if now > last - tolerance then|if false then'
    'renewal not announced|parts/renew|'"announce(key, 'renew')"'|'
    'system field not moved|parts/renew|'"redis.call('HSET', key, '__last_renew_pub_ttl_at', string.format('%.0f', now + ttl))"'|'
    'system field not begun|parts/renew|'"redis.call('HSET', key, '__last_renew_pub_ttl_at', string.format('%.0f', last))"'|'
    'system field begun with the new lease|parts/renew|'"string.format('%.0f', last)"'|'"string.format('%.0f', now + ttl)"
    'renewed told as missing|parts/renew|return 1|return -2'
    'one failure fails a batch|registry_renew_batch|'"local done, reply = pcall(renew, KEYS[1], ARGV[i + 1], ARGV[i], ttl, tolerance)"'|'"local done, reply = true, renew(KEYS[1], ARGV[i + 1], ARGV[i], ttl, tolerance)"
    'failure told as persistent|registry_renew_batch|done and reply or refusal(reply)|done and reply or -1'
    'first id for all|registry_renew_batch|ARGV[i + 1], ARGV[i], ttl|ARGV[4], ARGV[3], ttl'
    'set metadata merges|registry_set_metadata|'"in_parts('HDEL', key, dropped, 1)"'|'
    'set metadata not announced|registry_set_metadata|'"announce(key, 'set_metadata')"'|'
    'unlisted described|parts/listed|'" and
        redis.call('SISMEMBER', its_list, id) == 1"'|'
    'of another service described|parts/listed|'" and (list or its_list) == its_list"'|'
    'merge replaces|registry_update_fields|'"in_parts('HSET', key, ARGV, 4)"'|'"in_parts('HDEL', key, left_over(redis.call('HKEYS', key), 4), 1)
in_parts('HSET', key, ARGV, 4)"
    'merge not announced|registry_update_fields|'"announce(key, 'set_metadata')"'|'
    'system fields cleared|parts/metadata|'" and not string.find(field, '^__')"'|'
    'fields with __ kept|parts/metadata|'"string.find(field, '^__')"'|'"string.find(field, '__', 1, true)"
    'last pair lost|parts/metadata|for i = first, #values, 1000 do|for i = first, #values - 2, 1000 do'
    'known service announced|parts/service|== 0 then return false end|== 2 then return false end'
    'new service told as known|registry_set_service|and 1 or 0|and 0 or 0'
    'expired members keep a service|registry_remove_service|'"if living(ns, service, id) ~= -2 then in_use"'|'"if id then in_use"
    'removed in use|registry_remove_service|if in_use then return answer(0) end|'
    'stops at the first living member|registry_remove_service|in_use = true end|return answer(0) end'
    'count kept|registry_remove_service|'"redis.pcall('HDEL', ns .. ':svc_stat', service)"'|'
    'count of an unlisted service kept|registry_remove_service|'"redis.pcall('HDEL', ns .. ':svc_stat', service)
if redis.call('SREM', ns .. ':svc_idx', service) == 0 then return answer(0) end"'|'"if redis.call('SREM', ns .. ':svc_idx', service) == 0 then return answer(0) end
redis.call('HDEL', ns .. ':svc_stat', service)"
    'unknown service removed|registry_remove_service|'"== 0 then return answer(0) end"'|'"== 2 then return answer(0) end"
    'removal not announced|registry_remove_service|'"announce(ns .. ':svc_idx', 'remove')"'|'
    'expired stays listed|parts/living|'" and redis.call('SREM', ns .. ':svc_itc_idx:' .. service, id) == 1"'|'
    'removed by another|parts/living|'"local leaves = left == -2 and redis.call('SREM', ns .. ':svc_itc_idx:' .. service, id) == 1"'|'"local leaves = left == -2
    if leaves then redis.call('SREM', ns .. ':svc_itc_idx:' .. service, id) end"
    'persistent counts as expired|parts/living|left == -2 and|left < 0 and'
    'expiry not announced|parts/living|'"announce(key, 'expired')"'|'
    'expired counted|service_stat|'"if living(ns, service, id) ~= -2 then living_ones"'|'"if living(ns, service, id) then living_ones"
    'unlisted service counted|service_stat|'"elseif redis.call('SISMEMBER', ns .. ':svc_idx', ARGV[1]) == 1 then"'|else'
    'count not stored|service_stat|'"redis.call('HSET', ns .. ':svc_stat', service, living_ones)"'|'
    'total of the expired|instance_count_stat|'"~= -2 then total"'|'"and true then total"
    'one of them expires|discovery_expire|for i = 3, #ARGV do|for i = 3, 3 do'
    'living told as removed|discovery_expire|if leaves then|if true then'
)
