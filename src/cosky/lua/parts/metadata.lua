-- Metadata of an instance: fields that begin with one `_`.
local function is_metadata(field) return string.find(field, '^_') and not string.find(field, '^__') end
-- Calls `command` for the key with the values from `first` on, as many at a time as Lua can pass on.
local function in_parts(command, key, values, first)
    for i = first, #values, 1000 do
        redis.call(command, key, unpack(values, i, math.min(i + 999, #values)))
    end
end
-- Of the fields that are stored, the metadata that the arguments from `first` on do not bring.
local function left_over(stored, first)
    local brought, left = {}, {}
    for i = first, #ARGV, 2 do brought[ARGV[i]] = true end
    for _, field in ipairs(stored) do
        if is_metadata(field) and not brought[field] then left[#left + 1] = field end
    end
    return left
end
