#pragma once

#include <compare>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "rollcall/instance.hpp"

#pragma GCC visibility push(default)

namespace rollcall::cosky {

/// What an instance id says: `service@scheme#host#port`.
struct InstanceIdParts {
    std::string service_name = {};
    std::string scheme = {};
    std::string host = {};  ///< IPv6 without brackets.
    int port = 0;

    friend bool operator==(InstanceIdParts const&, InstanceIdParts const&) = default;
};

/// The canonical id of an instance: an IPv6 host in brackets, which Java's URIs need, and the port
/// without sign or leading zeros. Nothing is checked.
std::string as_instance_id(InstanceIdParts const& parts);
std::string as_instance_id(ServiceInstance const& instance);

/// The parts of an id as peers may have written it: an IPv6 host with or without brackets, any
/// int32 as port, a host that is empty, a service with `#`. None for anything else.
///
/// An id in another form than that of its parts, such as one with a leading `@` or the port `080`
/// or
/// `+80`, is none either: the design's programs read it back as another id (spec 14.1, number 46).
std::optional<InstanceIdParts> parse_instance_id(std::string_view id);

/// A service may be written: not empty or blank, no `@` and no `#`, UTF-8, no control characters,
/// at most 255 bytes. Errors: `std::invalid_argument`.
void validate_service(std::string_view service);

/// A service or an id may be asked for or removed: whatever a peer may have stored, so only not
/// empty or blank and at most 1,024 bytes. Errors: `std::invalid_argument` with `field`.
void validate_stored_name(std::string_view field, std::string_view name);

/// Metadata may be written: UTF-8, no key that begins with `_`, at most `max_metadata_pairs` and
/// `max_metadata_size`. An empty key is a key. Errors: `std::invalid_argument`.
void validate_metadata(Metadata const& metadata);

/// The instance as it is stored: scheme in lower case and its default port filled in, id canonical,
/// the flags that this layout does not store at their defaults. Any scheme will do, known or not.
///
/// Errors: `std::invalid_argument` with field, value and rule for
/// - a service or metadata as of `validate_service` and `validate_metadata`;
/// - a scheme that is empty, above 255 bytes, not UTF-8, or has white space, control characters or
///   one of `@ # :`;
/// - a host that is empty, above 253 bytes, not UTF-8, or has white space, control characters, one
///   of `[ ] / \ ? # @`, a port behind it, or other colons than those of an IPv6 address;
/// - a port outside 0…65535, or 0 where the scheme has no default;
/// - a weight below 0;
/// - an id that is neither empty nor the canonical one.
ServiceInstance validated(ServiceInstance const& instance);

inline constexpr std::size_t max_metadata_pairs = 10'000;
inline constexpr std::size_t max_metadata_size = 64 * 1'024;  ///< Bytes of all keys and values.

/// An instance of some namespace.
struct NamespacedInstanceId {
    std::string ns = {};
    std::string instance_id = {};

    friend auto operator<=>(NamespacedInstanceId const&, NamespacedInstanceId const&) = default;
};

/// Equality as the design has it: service, scheme, host, port and id; what else is said of the
/// instance does not count (spec 14.1, number 48: use `==` to see whether something changed).
bool is_same_instance(ServiceInstance const& a, ServiceInstance const& b) noexcept;

/// The scheme is exactly `https` or `wss`.
bool is_secure(ServiceInstance const& instance) noexcept;

}  // namespace rollcall::cosky

#pragma GCC visibility pop
