#pragma once

#include <array>
#include <string_view>

#include "core/deadline.hpp"
#include "core/result.hpp"
#include "redis/task.hpp"
#include "registry/layout_port.hpp"

#include "rollcall/instance.hpp"

namespace rollcall::announce {

/// What of a stored instance is written on its own when it changes, as an operator would.
struct InstancePart {
    std::string_view verb;  ///< What writing it does, for messages.
    bool (*is_stored)(Capabilities const&);
    bool (*is_same)(ServiceInstance const&, ServiceInstance const&);
    void (*copy)(ServiceInstance const& from, ServiceInstance& to);
    /// What is given by reference must outlive the task.
    Task<Result<Written>> (*write)(LayoutPort&, InstanceId const&, ServiceInstance const&,
                                   Deadline);
};

inline constexpr std::size_t instance_part_count = 4;
inline constexpr std::size_t enabled_part = 2;
extern std::array<InstancePart, instance_part_count> const instance_parts;

}  // namespace rollcall::announce
