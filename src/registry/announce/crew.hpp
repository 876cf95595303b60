#pragma once

#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/io_context.hpp>
#include <cstddef>
#include <list>
#include <memory>

#include "core/log.hpp"
#include "redis/task.hpp"
#include "registry/announce/wake.hpp"

namespace rollcall::announce {

/// Coroutines that run beside the one that owns them, and end before it does.
///
/// Thread safety: the I/O thread only.
/// Lifetime: nothing may run any more at its end: see `dismiss`.
class Crew {
public:
    Crew(asio::io_context& io, Log const& log) : io_(io), log_(log), empty_(io) {}

    /// What leaves `task` as an exception is logged.
    void start(Task<void> task);
    /// Cancels all, and waits for their end. Nothing is started any more.
    Task<void> dismiss();

private:
    using Member = std::shared_ptr<asio::cancellation_signal>;

    asio::io_context& io_;
    Log const& log_;
    Wake empty_;
    std::list<Member> members_;
    bool dismissed_ = false;
};

}  // namespace rollcall::announce
