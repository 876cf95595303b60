-- Tells subscribers. A refused message does not undo what was done: the reply says so.
local refused
local function announce(channel, payload)
    local sent = redis.pcall('PUBLISH', channel, payload)
    if type(sent) == 'table' then refused = sent.err end
end
local function answer(reply) return refused and {reply, refused} or reply end
