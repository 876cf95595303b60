#pragma once

#include "redis/push_handler.hpp"
#include "registry/live/live_context.hpp"
#include "registry/live/live_port.hpp"

namespace rollcall::live {

/// Has `handler` told what is published there and what becomes of the epoch, until it is detached.
/// What is refused at once is logged. On the I/O thread only.
void subscribe(LiveContext& context, redis::PushHandler& handler, LivePort::Channel const& channel);

}  // namespace rollcall::live
