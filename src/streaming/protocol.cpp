#include "rollcall/streaming/protocol.hpp"

#include <array>
#include <cstddef>

#include "core/protocol_table.hpp"
#include "core/text.hpp"

namespace rollcall::streaming {
namespace {

constexpr std::array standard_values{
    StandardProtocol::http,  StandardProtocol::https, StandardProtocol::tcp,
    StandardProtocol::udp,   StandardProtocol::ws,    StandardProtocol::wss,
    StandardProtocol::kcp,   StandardProtocol::grpc,  StandardProtocol::grpcs,
    StandardProtocol::dubbo, StandardProtocol::dubbo2};
constexpr std::array messaging_values{
    MessagingProtocol::redis_stream, MessagingProtocol::redis_stream_tls,
    MessagingProtocol::redis_pubsub, MessagingProtocol::redis_pubsub_tls};

}  // namespace

Protocol const& describe(StandardProtocol protocol) noexcept {
    return protocol_table()[static_cast<std::size_t>(protocol)];
}

Protocol const& describe(MessagingProtocol protocol) noexcept {
    return protocol_table()[standard_values.size() + static_cast<std::size_t>(protocol)];
}

std::span<StandardProtocol const> standard_protocols() noexcept { return standard_values; }
std::span<MessagingProtocol const> messaging_protocols() noexcept { return messaging_values; }

StandardProtocol standard_protocol(std::string_view name) {
    for (auto const value : standard_values) {
        if (equal_ignoring_case(describe(value).name, name)) return value;
    }
    refuse("protocol", name, "must be a standard protocol, such as http or grpc");
}

MessagingProtocol messaging_protocol(std::string_view name) {
    for (auto const value : messaging_values) {
        if (equal_ignoring_case(describe(value).name, name)) return value;
    }
    refuse("protocol", name, "must be a messaging protocol, such as redis-stream");
}

StandardProtocol http_protocol(bool secure) noexcept {
    return secure ? StandardProtocol::https : StandardProtocol::http;
}

StandardProtocol ws_protocol(bool secure) noexcept {
    return secure ? StandardProtocol::wss : StandardProtocol::ws;
}

StandardProtocol grpc_protocol(bool secure) noexcept {
    return secure ? StandardProtocol::grpcs : StandardProtocol::grpc;
}

Protocol const& resolve_protocol(std::string_view stored) noexcept {
    // The table's order, standard before messaging, is the order of resolution.
    for (auto const& row : protocol_table()) {
        if (equal_ignoring_case(row.name, stored)) return row;
    }
    return describe(StandardProtocol::http);
}

}  // namespace rollcall::streaming
