#include "rollcall/protocol.hpp"

#include "core/protocol_table.hpp"
#include "core/text.hpp"

namespace rollcall {

std::span<Protocol const> protocol_table() noexcept {
    static constexpr Protocol rows[] = {
        {"http", false, 80},
        {"https", true, 443},
        {"tcp", false, 0},
        {"udp", false, 0},
        {"ws", false, 80},
        {"wss", true, 443},
        {"kcp", false, 0},
        {"grpc", false, 0},
        {"grpcs", true, 0},
        {"dubbo", false, 0},
        {"dubbo2", false, 0},
        {"redis-stream", false, 6379},
        {"redis-stream-tls", true, 6380},
        {"redis-pubsub", false, 6379},
        {"redis-pubsub-tls", true, 6380},
    };
    return rows;
}

std::string known_protocols() {
    std::string names;
    for (auto const& row : protocol_table()) {
        if (!names.empty()) names += ", ";
        names += row.name;
    }
    return names;
}

bool equal_ignoring_case(std::string_view a, std::string_view b) noexcept {
    if (a.size() != b.size()) return false;
    for (std::size_t i = 0; i < a.size(); ++i) {
        if (lower_case(a[i]) != lower_case(b[i])) return false;
    }
    return true;
}

std::optional<Protocol> find_protocol(std::string_view name) noexcept {
    for (auto const& row : protocol_table()) {
        if (equal_ignoring_case(row.name, name)) return row;
    }
    return std::nullopt;
}

int effective_port(std::string_view scheme, int port) noexcept {
    if (port > 0) return port;
    auto const protocol = find_protocol(scheme);
    return protocol ? protocol->default_port : 0;
}

}  // namespace rollcall
