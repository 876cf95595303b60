#pragma once

#include <optional>
#include <string_view>

#pragma GCC visibility push(default)

namespace rollcall {

/// What a scheme stands for.
struct Protocol {
    std::string_view name;  ///< Lower case, as it is written to Redis.
    bool secure;
    int default_port;  ///< Used where an instance has port 0; itself 0 where there is no default.

    friend bool operator==(Protocol const&, Protocol const&) = default;
};

/// The protocol called `name`, ignoring ASCII case; none when no layout knows it.
std::optional<Protocol> find_protocol(std::string_view name) noexcept;

/// `port` if it is positive, else the default of `scheme`, else 0.
int effective_port(std::string_view scheme, int port) noexcept;

}  // namespace rollcall

#pragma GCC visibility pop
