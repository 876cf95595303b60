#pragma once

#include <utility>

#include "rollcall/snapshot.hpp"

#pragma GCC visibility push(default)

namespace rollcall {

/// A chosen instance, or none. Pointer-like; keeps the instance valid for as long as it is held.
///
/// Thread safety: as of `Snapshot`.
class Choice {
public:
    /// None.
    Choice() noexcept = default;
    /// `instance` lies in `snapshot`, or is null.
    Choice(Snapshot snapshot, ServiceInstance const* instance) noexcept
        : snapshot_(std::move(snapshot)), instance_(instance) {}

    explicit operator bool() const noexcept { return instance_ != nullptr; }
    ServiceInstance const& operator*() const noexcept { return *instance_; }
    ServiceInstance const* operator->() const noexcept { return instance_; }

private:
    Snapshot snapshot_;
    ServiceInstance const* instance_ = nullptr;
};

}  // namespace rollcall

#pragma GCC visibility pop
