#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string_view>

#include "rollcall/instance.hpp"
#include "rollcall/streaming/config.hpp"

#pragma GCC visibility push(default)

namespace rollcall::streaming {

/// What one heartbeat writes. Source: seed 000, "Heartbeat Mechanism".
enum class UpdateDecision { no_update, heartbeat_only, metadata_update };

/// Decides what each heartbeat of each instance writes. Does no I/O; time is an argument.
///
/// Times are milliseconds on any clock that does not jump; the provider uses the monotonic one.
/// Names are expected in their sanitised form.
/// Cost: a state for each instance that was marked and not forgotten, about 150 bytes, its names
/// and, when changes are to be detected, a copy of its metadata; deciding about others keeps
/// nothing.
/// Thread safety: all members from any thread, moving and destroying aside.
class HeartbeatStateManager {
public:
    using Time = std::chrono::milliseconds;

    explicit HeartbeatStateManager(HeartbeatConfig config = {});
    ~HeartbeatStateManager();
    HeartbeatStateManager(HeartbeatStateManager&&) noexcept;
    HeartbeatStateManager& operator=(HeartbeatStateManager&&) noexcept;

    UpdateDecision decide(std::string_view service, std::string_view id, Metadata const& metadata,
                          Time now) const;
    /// The same for a description that has not changed.
    UpdateDecision decide(std::string_view service, std::string_view id, Time now) const;

    /// Call after the script said that the instance was there; never otherwise. `no_update` marks
    /// nothing.
    void mark_written(std::string_view service, std::string_view id, UpdateDecision what,
                      Metadata const& metadata, Time now);

    /// A registration wrote this description: the next heartbeat is due at once, and is not a
    /// metadata update unless the description changes.
    void mark_registered(std::string_view service, std::string_view id, Metadata const& metadata,
                         Time now);

    void forget(std::string_view service, std::string_view id);
    std::size_t size() const;  ///< Instances with a state.

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace rollcall::streaming

#pragma GCC visibility pop
