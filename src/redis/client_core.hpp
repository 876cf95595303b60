#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <sys/types.h>
#include <type_traits>
#include <utility>

#include "core/deadline.hpp"
#include "core/log.hpp"
#include "core/result.hpp"
#include "redis/background.hpp"
#include "redis/callback_thread.hpp"
#include "redis/outage.hpp"
#include "redis/recess.hpp"
#include "redis/session.hpp"
#include "redis/subscriber.hpp"
#include "redis/task.hpp"

#include "rollcall/client.hpp"

namespace rollcall::redis {

/// What a forked child gets of everything that does I/O.
inline Failure was_forked() { return {errc::closed, "this process was forked from the client's"}; }

/// One I/O thread with its session: what a `Client` owns and layouts keep alive.
///
/// Thread safety: `run`, `spawn`, `closed`, `outage` and the accessors of constants from any
/// thread; the session and the `io_context` on the I/O thread only. Lifetime: the last owner's end
/// stops the session and the thread, within a second; that owner may be the I/O thread itself.
/// Fork: in a child every `run` fails with `errc::closed`, and the end of the last owner leaves
/// thread, sockets and memory alone.
class ClientCore : public std::enable_shared_from_this<ClientCore> {
public:
    /// Errors: `std::invalid_argument` for a malformed URL or option, `std::system_error` when the
    /// system has no descriptors or threads left.
    static std::shared_ptr<ClientCore> create(ClientOptions options);
    /// `session` is for what `options` does not say; its URL and limits are taken from there.
    static std::shared_ptr<ClientCore> create(ClientOptions options, SessionOptions session);
    ~ClientCore();
    ClientCore(ClientCore const&) = delete;
    ClientCore& operator=(ClientCore const&) = delete;

    Session& session() noexcept;
    /// The second connection, for pushes; made at the first call. On the I/O thread only.
    Subscriber& subscriber();
    /// Keeps both connections at one server; there for as long as the I/O thread.
    std::shared_ptr<ServerWatch> const& servers() const;
    asio::io_context& io() noexcept;
    /// Where what the user gave us to call is called.
    std::shared_ptr<CallbackThread> const& callbacks() const noexcept { return callbacks_; }
    Log const& log() const noexcept { return log_; }
    /// For threads of the user's that let time pass; ended with the `Client`.
    Recess& recess() noexcept { return recess_; }
    /// Whether the session has no connection, and why. Not in a forked child.
    std::optional<Outage::State> outage() const;
    Url const& url() const noexcept { return url_; }
    std::chrono::milliseconds request_timeout() const noexcept { return request_timeout_; }
    Deadline deadline() const { return after(request_timeout_); }
    /// How long the end waits for a thread that a name resolution holds up, before it leaves it to
    /// itself. For a program that ends next. Before the last owner's end.
    void set_patience_at_end(std::chrono::milliseconds patience) { patience_at_end_ = patience; }
    /// Whether this is a forked child, where nothing works any more.
    bool closed() const noexcept;
    bool on_io_thread() const noexcept;  ///< Where nothing may wait for that thread.

    /// Runs `make()`, a `Task<Result<T>>`, on the I/O thread and waits for its end. `make` is
    /// called on the I/O thread and may be a lambda with captures, as it is no coroutine itself;
    /// what it refers to in the caller's frame lives until the coroutine has ended. An exception
    /// that leaves the coroutine is thrown here, one of Boost's as `std::system_error`.
    ///
    /// Errors: `errc::closed` in a forked child and on the I/O thread.
    template <class Make>
    auto run(Make&& make) -> typename std::invoke_result_t<Make&>::value_type {
        using Outcome = typename std::invoke_result_t<Make&>::value_type;
        std::optional<Outcome> outcome;
        auto const start = [&make, &outcome] { return keep(make(), outcome); };
        if (auto failure = run_to_end(start)) return *std::move(failure);
        return *std::move(outcome);
    }

    /// Starts `make()` on the I/O thread, where it runs until it ends or its owner stops it: then
    /// what it awaits is cut short (`exec` fails with `errc::cancelled`, `pause` gives false), and
    /// awaiting anything further throws what ends it. `make` must own what it uses, as it is called
    /// later. Another exception than that of cancellation is logged.
    Background spawn(std::function<Task<void>()> make);

private:
    friend class Background;
    struct Loop;
    struct Running;

    ClientCore(ClientOptions options, SessionOptions session);

    template <class Outcome>
    static Task<void> keep(Task<Outcome> task, std::optional<Outcome>& outcome) {
        outcome.emplace(co_await std::move(task));
    }
    std::optional<Failure> run_to_end(std::function<Task<void>()> const& make);

    Log const log_;
    std::shared_ptr<CallbackThread> const callbacks_;
    Url const url_;
    std::chrono::milliseconds const request_timeout_;
    pid_t const owner_;  // The process that has the thread.
    std::chrono::milliseconds patience_at_end_{900};
    Recess recess_;
    std::unique_ptr<Running> running_;
};

}  // namespace rollcall::redis
