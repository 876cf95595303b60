#pragma once

#include <optional>
#include <string>
#include <string_view>

#pragma GCC visibility push(default)

namespace rollcall::streaming {

/// Names one instance of one service. Source: the design's `ServiceIdentity`.
struct ServiceIdentity {
    std::optional<std::string> service_name = {};
    std::optional<std::string> instance_id = {};

    /// `service:id` from the raw, unsanitised values; none when either is missing.
    std::optional<std::string> unique_id() const;

    /// Both parts are present and not blank.
    bool is_valid_identity() const noexcept;

    friend bool operator==(ServiceIdentity const&, ServiceIdentity const&) = default;
};

/// The id that the design's auto-registration gives an instance when it is told none:
/// `service-host:port`. Stored in its sanitised form, `service-host_port`.
std::string generate_instance_id(std::string_view service_name, std::string_view host, int port);

}  // namespace rollcall::streaming

#pragma GCC visibility pop
