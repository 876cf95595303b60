#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "rollcall/instance.hpp"

#pragma GCC visibility push(default)

namespace rollcall::streaming {

/// An instance as it was found in Redis.
struct StoredInstance {
    ServiceInstance instance = {};
    InstanceState state = {};
};

/// Between an instance and its Redis Hash.
///
/// Thread safety: stateless; all members from any thread.
struct InstanceEntryCodec {
    using Field = std::pair<std::string_view, std::string_view>;

    /// The JSON document that the register script stores, without the three times, which the script
    /// adds by Redis' clock. Expects a validated instance; an empty host is null, which the script
    /// takes as "remove the field".
    static std::string build_instance_data(ServiceInstance const& instance);

    /// The metadata as one JSON object, as a heartbeat writes it.
    static std::string metadata_json(Metadata const& metadata);

    /// The instance that the fields of a Hash describe, with `port` resolved and without
    /// `lease_until`; none for an empty Hash, one without `host` or `port`, or one with a malformed
    /// number in a place that readers of the design drop. Any bytes may be given, ill-formed UTF-8
    /// becomes U+FFFD; throws nothing but `std::bad_alloc`.
    ///
    /// Cost: about 0.1 µs and one allocation for each metadata entry when it is a flat object of
    /// strings.
    static std::optional<StoredInstance> parse_instance(std::string_view service_name,
                                                        std::string_view instance_id,
                                                        std::span<Field const> fields);

    /// The instance as it is stored: with sanitised names, lower-case scheme and resolved port; an
    /// empty id becomes `service-host_port`.
    ///
    /// Errors: `std::invalid_argument` naming field, value and rule for what may not be registered:
    /// names (see `RegistryKeys`), host (empty, above 253 bytes, not UTF-8, white space, control
    /// characters, one of `[ ] / \ ? # @`, a port behind it or other colons than
    /// those of an IPv6 address), port (0…65535), scheme (unknown),
    /// metadata (not UTF-8, an entry named `@class`, above `max_metadata_size`).
    static ServiceInstance validated(ServiceInstance const& instance);

    static constexpr std::size_t max_metadata_size = 64 * 1024;  ///< Bytes of the JSON document.
};

}  // namespace rollcall::streaming

#pragma GCC visibility pop
