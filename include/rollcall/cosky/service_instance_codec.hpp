#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rollcall/instance.hpp"

#pragma GCC visibility push(default)

namespace rollcall::cosky {

/// `ttl_at` of what does not expire, under the design's own name.
inline constexpr std::int64_t TTL_AT_FOREVER = -1;  // NOLINT(readability-identifier-naming)

/// An instance as a read found it.
struct DiscoveredInstance {
    ServiceInstance instance = {};
    /// When its lease ends, in seconds of Redis' clock since 1970; `TTL_AT_FOREVER` for what is
    /// persistent, unless a peer has stored another number. Known to about a second: decide nothing
    /// on it that `state.lease_until` can decide.
    std::int64_t ttl_at = TTL_AT_FOREVER;
    InstanceState state = {};
};

/// Expired at `now`, seconds of Redis' clock: ephemeral and `ttl_at` before `now`, strictly.
bool is_expired(DiscoveredInstance const& found, std::int64_t now) noexcept;

/// Turns instances into fields of a Hash and back. Source: seed 003, "ServiceInstanceCodec".
struct ServiceInstanceCodec {
    using Field = std::pair<std::string_view, std::string_view>;

    /// `_key`. Errors: `std::invalid_argument` for a key that starts with `_`.
    static std::string encode_metadata_key(std::string_view key);
    /// The metadata key that a field stands for; none for other fields, those with `__` in front
    /// included.
    static std::optional<std::string_view> decode_metadata_key(std::string_view field) noexcept;

    /// The host as fields and ids have it: an IPv6 address in brackets, as Java's URIs need it
    /// (spec 14.1, number 47), all else as it is. What is in brackets already stays.
    static std::string encode_host(std::string_view host);
    /// Without the brackets around an IPv6 address, which peers may have left out.
    static std::string_view decode_host(std::string_view stored) noexcept;

    /// The seven fields that a registration writes and the metadata, in that order. Errors: as of
    /// `encode_metadata_key`.
    static std::vector<std::pair<std::string, std::string>> encode(ServiceInstance const& instance);

    /// Total: none for a Hash that describes no instance (one of the seven fields is missing, port
    /// or weight is no int32), never an error. A later duplicate wins, fields that the design does
    /// not know are ignored.
    ///
    /// Id and service are given as they are stored, other texts as UTF-8 with U+FFFD for what is
    /// ill-formed, the port as of `effective_port`. A `ttl_at` that is no int64 counts as none. An
    /// ephemeral instance without one is about to expire: `ttl_at` is 0.
    static std::optional<DiscoveredInstance> decode(std::span<Field const> fields);
};

}  // namespace rollcall::cosky

#pragma GCC visibility pop
