#pragma once

#include <cstddef>
#include <hiredis/hiredis.h>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rollcall::bench {

/// What others read with: a blocking client that decodes replies and nothing more.
class PlainClient {
public:
    using Reply = std::unique_ptr<redisReply, void (*)(void*)>;

    explicit PlainClient(std::string const& socket);

    /// Sends with the next `receive`. At most eight arguments.
    void send(std::span<std::string_view const> arguments);
    /// The next reply. Throws for an error.
    Reply receive();

    /// All in one go, the keys being known: each of `commands` for each key. Returns how many
    /// Hashes it found.
    std::size_t read_pipelined(std::vector<std::string> const& keys,
                               std::span<std::string_view const> commands);

private:
    std::unique_ptr<redisContext, void (*)(redisContext*)> context_;
};

}  // namespace rollcall::bench
