#pragma once

#include <span>
#include <string_view>

#include "rollcall/protocol.hpp"

#pragma GCC visibility push(default)

namespace rollcall::streaming {

/// The protocols of the design's `StandardProtocol`.
enum class StandardProtocol { http, https, tcp, udp, ws, wss, kcp, grpc, grpcs, dubbo, dubbo2 };

/// The protocols of the design's `MessagingProtocol`: the four that concern Redis.
enum class MessagingProtocol { redis_stream, redis_stream_tls, redis_pubsub, redis_pubsub_tls };

Protocol const& describe(StandardProtocol protocol) noexcept;
Protocol const& describe(MessagingProtocol protocol) noexcept;

std::span<StandardProtocol const> standard_protocols() noexcept;
std::span<MessagingProtocol const> messaging_protocols() noexcept;

/// The protocol called `name`, ignoring ASCII case.
///
/// Errors: `std::invalid_argument` for any other name.
StandardProtocol standard_protocol(std::string_view name);
MessagingProtocol messaging_protocol(std::string_view name);

StandardProtocol http_protocol(bool secure) noexcept;
StandardProtocol ws_protocol(bool secure) noexcept;
StandardProtocol grpc_protocol(bool secure) noexcept;

/// What a reader makes of a stored protocol text: a standard protocol, else a messaging one, else
/// HTTP. Never fails.
Protocol const& resolve_protocol(std::string_view stored) noexcept;

}  // namespace rollcall::streaming

#pragma GCC visibility pop
