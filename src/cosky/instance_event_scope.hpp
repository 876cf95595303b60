#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/result.hpp"
#include "redis/push_handler.hpp"

#include "rollcall/cosky/instance_changed_event.hpp"

namespace rollcall::cosky {

/// Whose events are asked for: those of one service, or of all of a namespace. Pure.
///
/// The namespace is known, so it may hold colons: a channel is not cut at its first one.
struct InstanceEventScope {
    std::string ns = {};
    std::string service = {};  ///< Empty: all.

    redis::Topic topic() const;
    InstanceChangedEvent resync() const;
    /// Whether messages on a channel are of what is asked for: a pattern may match more.
    bool concerns(std::string_view channel) const;
    /// What a message says; none if it is no concern of this scope. Any bytes may be given. Errors:
    /// why it says nothing.
    Result<std::optional<InstanceChangedEvent>> read(std::string_view channel,
                                                     std::string_view payload) const;
};

}  // namespace rollcall::cosky
