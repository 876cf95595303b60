#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "core/deadline.hpp"
#include "core/result.hpp"
#include "redis/client_core.hpp"
#include "redis/push_handler.hpp"
#include "redis/session.hpp"
#include "redis/task.hpp"
#include "registry/generation.hpp"
#include "registry/live/sighting.hpp"

namespace rollcall::announce {

/// Sees to it that the data in Redis has an epoch, for a process that writes: who finds none has
/// found data that was lost. Readers only read it.
///
/// It is to be asserted after each connection and each doubt, and before anything is registered
/// again because it was gone.
///
/// Thread safety: the I/O thread only, construction aside.
/// Lifetime: `core` and the owner of `on_doubt` must outlive it, and `stop` must come before its
/// end if it was started.
class EpochKeeper final : private redis::PushHandler {
public:
    /// `on_doubt` is called when somebody may have changed the epoch, or a loss of it may have gone
    /// unnoticed: then it is to be asserted.
    EpochKeeper(redis::ClientCore& core, std::string key, std::function<void()> on_doubt);

    void start();
    void stop();

    /// Writes an epoch if there is none, then reads the generation. Equal numbers stand for equal
    /// generations, within this keeper; none: it is not known. Where writing is refused, one
    /// warning.
    /// Cost: one round trip. Errors: those of `read_generation`.
    Task<Result<std::optional<GenerationNumber>>> assert_epoch(Deadline deadline);

private:
    // redis::PushHandler
    void confirmed(redis::Topic const&) override {}
    void message(redis::Message const&) override {}
    void unreadable(redis::Topic const&, std::string_view) override {}
    void refused(redis::Topic const&, Failure const&) override {}
    void tracked(std::string_view) override { on_doubt_(); }
    void invalidated(std::string_view) override { on_doubt_(); }
    void lost(std::string_view) override {}

    GenerationNumber number_of(Generation generation);

    redis::ClientCore& core_;
    std::string const key_;
    std::function<void()> const on_doubt_;
    bool started_ = false;
    bool warned_ = false;
    Generation last_;
    GenerationNumber number_ = 0;  // Of the last one.
};

}  // namespace rollcall::announce
