-- Lists a service that need not have instances.
-- KEYS: namespace
-- ARGV: service
-- Reply: 1 if it was not listed; {1, why} when the message was refused
-- include cosky/lua/parts/announce.lua
-- include cosky/lua/parts/service.lua
return answer(list_service(KEYS[1], ARGV[1]) and 1 or 0)
