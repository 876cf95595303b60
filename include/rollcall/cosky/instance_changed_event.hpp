#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "rollcall/cosky/instance_id.hpp"

#pragma GCC visibility push(default)

namespace rollcall::cosky {

/// What happened to an instance. Source: spec 7.
enum class InstanceEvent {
    registered,    ///< Or registered anew, with another description perhaps.
    deregistered,  ///< By its owner or by an operator.
    expired,       ///< Its lease ran out, and somebody noticed.
    renewed,       ///< Not each renewal is announced.
    metadata_set,  ///< Or its weight.
    /// No instance; ours, not the design's. Events may have been missed: look at what is there now.
    /// What happens from here on is told.
    resync,
};

/// The payload that stands for an event: `register`, `deregister`, `expired`, `renew`,
/// `set_metadata`; empty for `resync`, which is never sent.
std::string_view to_payload(InstanceEvent event) noexcept;

/// Upper case counts as lower case. None for anything else.
std::optional<InstanceEvent> parse_instance_event(std::string_view payload) noexcept;

/// One event of an instance, or of what a listener was told. It is a hint: it may be late, and
/// pub/sub does not keep databases of one Redis apart. What is true is what a read says.
struct InstanceChangedEvent {
    InstanceEvent event = InstanceEvent::resync;
    std::string ns = {};
    std::string service_name = {};  ///< Empty for a `resync` of all services.
    std::string instance_id = {};   ///< Empty for a `resync`, as are the parts.
    InstanceIdParts instance = {};

    friend bool operator==(InstanceChangedEvent const&, InstanceChangedEvent const&) = default;
};

}  // namespace rollcall::cosky

#pragma GCC visibility pop
