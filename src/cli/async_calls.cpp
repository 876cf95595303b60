#include "cli/async_calls.hpp"

#include <boost/asio/post.hpp>

#include "redis/client_core.hpp"

namespace rollcall::cli {

namespace {

/// `make` calls the port with what it holds, which stays in this frame until the call has ended.
template <class T>
Task<void> deliver(std::function<Task<Result<T>>()> make, asio::io_context& loop,
                   AsyncCalls::Handler<T> handler) {
    Result<T> result{Failure{errc::cancelled, ""}};
    try {
        result = co_await make();
    } catch (std::invalid_argument const& error) {
        result = Failure{errc::unexpected_reply, error.what()};
    }
    asio::post(loop, [handler = std::move(handler), result = std::move(result)]() mutable {
        handler(std::move(result));
    });
}

}  // namespace

AsyncCalls::AsyncCalls(Backend const& backend, asio::io_context& loop)
    : backend_(backend), loop_(loop) {}

template <class T, class Make>
void AsyncCalls::start(Make make, Handler<T> handler) {
    std::function<Task<Result<T>>()> const call = std::move(make);
    current_ = backend_.core()->spawn([call, &loop = loop_, handler = std::move(handler)] {
        return deliver<T>(call, loop, handler);
    });
}

void AsyncCalls::instance(InstanceId const& id, Handler<std::optional<Found>> handler) {
    start<std::optional<Found>>(
        [id, port = backend_.port(), deadline = backend_.core()->deadline()] {
            return port->instance(id, deadline);
        },
        std::move(handler));
}

void AsyncCalls::facts(Handler<ServerFacts> handler) {
    start<ServerFacts>(
        [&core = *backend_.core(), deadline = backend_.core()->deadline()] {
            return server_facts(core, deadline);
        },
        std::move(handler));
}

void AsyncCalls::sweep_as_leader(std::chrono::milliseconds hold, Handler<SweepReport> handler) {
    start<SweepReport>(
        [hold, port = backend_.port(), deadline = backend_.core()->deadline()] {
            return port->sweep_as_leader(hold, deadline);
        },
        std::move(handler));
}

}  // namespace rollcall::cli
