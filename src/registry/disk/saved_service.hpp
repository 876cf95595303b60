#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "rollcall/instance.hpp"

namespace rollcall::disk {

/// Whose services are saved. What is of another origin is nobody's business here.
struct Origin {
    std::string server = {};  ///< The address, without credentials.
    std::string layout = {};
    std::string name_space = {};

    friend bool operator==(Origin const&, Origin const&) = default;
};

struct SavedInstance {
    using Time = std::optional<std::chrono::system_clock::time_point>;

    std::shared_ptr<ServiceInstance const> instance = {};
    Time registered_at = {};  ///< By Redis' clock, as is the next.
    Time last_heartbeat_at = {};
    Time lease_until = {};  ///< By this machine's clock.
};

/// A service as Redis last confirmed it. Times are kept in milliseconds; those before 1970 or after
/// 2219 are left out.
struct SavedService {
    std::string service = {};
    std::chrono::system_clock::time_point confirmed_at = {};
    std::vector<SavedInstance> instances = {};  ///< Ordered by id, each once.
};

}  // namespace rollcall::disk
