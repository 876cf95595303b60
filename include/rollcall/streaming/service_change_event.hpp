#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "rollcall/instance.hpp"

#pragma GCC visibility push(default)

namespace rollcall::streaming {

/// What happened to an instance. `current` and the two health actions are never on the wire.
enum class ServiceChangeAction {
    added,
    removed,
    updated,
    current,
    health_recovery,
    health_failure
};

/// Lower-case name, as in the design's `getValue`.
std::string_view value(ServiceChangeAction action) noexcept;
std::optional<ServiceChangeAction> service_change_action(std::string_view value) noexcept;

/// What is published on a service's channel. Source: seed 000, "Change Notification".
struct ServiceChangeEvent {
    ServiceChangeAction action = ServiceChangeAction::updated;
    std::string service_name = {};
    std::string instance_id = {};
    std::chrono::milliseconds timestamp{0};        ///< Since the epoch.
    std::optional<ServiceInstance> instance = {};  ///< As it was at that moment.

    friend bool operator==(ServiceChangeEvent const&, ServiceChangeEvent const&) = default;
};

/// The message as subscribers of the design's program accept it: one line of JSON. An empty host
/// and a metadata entry called `@class` are left out; ill-formed UTF-8 becomes U+FFFD.
std::string to_message(ServiceChangeEvent const& event);

/// What a message says, whoever wrote it: members in any order, unknown ones ignored, `@class` at
/// every level too, actions in either case, numbers also as text, text behind the object ignored.
/// What is missing is empty, 0 or false, as for the design's readers. Names are as the writer had
/// them, sanitised or not. None for anything that does not name an action and an instance, and
/// above `max_message_size`. Any bytes may be given.
std::optional<ServiceChangeEvent> parse_message(std::string_view message);

inline constexpr std::size_t max_message_size = 1024 * 1024;

}  // namespace rollcall::streaming

#pragma GCC visibility pop
