#pragma once

#include <string>
#include <string_view>

#include "rollcall/instance.hpp"
#include "rollcall/streaming/service_change_event.hpp"

namespace rollcall::streaming {

/// A message is `event_head`, the action's wire name, `event_tail(…)`, the time in epoch
/// milliseconds, `event_end`. Scripts compose it: they alone know the action and the time.
inline constexpr std::string_view event_head =
    R"({"@class":"io.github.cuihairu.redis.streaming.registry.event.ServiceChangeEvent","action":")";
inline constexpr std::string_view event_end = "}";

/// From the quote behind the action to `"timestamp":`. A null instance is left out, as is an empty
/// host; the instance is told under the names given here.
std::string event_tail(std::string_view service_name, std::string_view instance_id,
                       ServiceInstance const* instance);

/// Upper-case name of the action, as it stands in messages.
std::string_view wire_name(ServiceChangeAction action) noexcept;

}  // namespace rollcall::streaming
