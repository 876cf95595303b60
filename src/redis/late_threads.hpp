#pragma once

#include <chrono>
#include <memory>
#include <thread>

#include "redis/event.hpp"

namespace rollcall::redis {

/// Takes over `thread`, whose owner cannot wait for it: it is that thread, or has waited long
/// enough. `ended` is set at its end.
///
/// Once it has ended it is joined when the next one is left behind, or when the program ends, which
/// waits for it for `patience`, for all of them together no longer than for one: a thread that
/// still runs then would use what the program's end destroys, the state of OpenSSL for one.
/// Thread safety: any thread.
void leave_behind(std::thread thread, std::shared_ptr<Event> ended,
                  std::chrono::milliseconds patience = std::chrono::seconds{1}) noexcept;

/// From now on the program's end waits for those: what was begun to be used before, such as
/// OpenSSL, ends after them. Before the start of a thread that may be left behind.
void expect_late_threads();

}  // namespace rollcall::redis
