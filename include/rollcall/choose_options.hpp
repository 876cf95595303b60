#pragma once

#include <optional>
#include <span>
#include <string_view>

#pragma GCC visibility push(default)

namespace rollcall {

/// What a caller says of the call that it chooses an instance for. It is looked at during the
/// choice only.
struct ChooseOptions {
    /// What the call is about, such as a user or a session: a balancer by consistent hash sends
    /// equal keys to the same instance. Others do not look at it.
    std::optional<std::string_view> key = {};
    /// Ids of instances that are not wanted, such as those that have failed this call already. None
    /// is chosen rather than one of them.
    std::span<std::string_view const> exclude = {};
};

}  // namespace rollcall

#pragma GCC visibility pop
