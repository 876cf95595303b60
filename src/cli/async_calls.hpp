#pragma once

#include <boost/asio/io_context.hpp>
#include <functional>
#include <optional>

#include "cli/backend.hpp"
#include "cli/commands/server_report.hpp"
#include "redis/background.hpp"

namespace rollcall::cli {

/// The port's calls for what must not wait: they run on the client's I/O thread, one at a time;
/// answers arrive on the given loop.
///
/// Thread safety: the loop's thread. Lifetime: the loop outlives it; destroying it cancels the call
/// under way, whose handler is then not called.
class AsyncCalls {
public:
    template <class T>
    using Handler = std::function<void(Result<T>)>;

    AsyncCalls(Backend const& backend, boost::asio::io_context& loop);

    void instance(InstanceId const& id, Handler<std::optional<Found>> handler);
    void facts(Handler<ServerFacts> handler);
    void sweep_as_leader(std::chrono::milliseconds hold, Handler<SweepReport> handler);

private:
    template <class T, class Make>
    void start(Make make, Handler<T> handler);

    Backend const& backend_;
    boost::asio::io_context& loop_;
    redis::Background current_;
};

}  // namespace rollcall::cli
