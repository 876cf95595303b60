#pragma once

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/this_coro.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "core/result.hpp"
#include "redis/task.hpp"

namespace rollcall::live {

/// A question that many have at the same time, put once for all of them. Whoever asks gets the
/// answer to one that was put afterwards; one is on its way at a time.
///
/// Thread safety: the I/O thread only, construction aside.
template <class T>
class SharedQuestion {
public:
    using Put = std::function<Task<Result<T>>()>;

    explicit SharedQuestion(Put put) : state_(std::make_shared<State>(std::move(put))) {}

    Task<Result<T>> ask() { return wait(state_); }

private:
    using Executor = asio::io_context::executor_type;
    using Timer =
        asio::basic_waitable_timer<std::chrono::steady_clock,
                                   asio::wait_traits<std::chrono::steady_clock>, Executor>;

    struct Round {
        explicit Round(Executor const& executor) : done(executor, Timer::time_point::max()) {}
        Timer done;  // Never expires; cancelled by the answer.
        std::optional<Result<T>> answer;
    };

    struct State {
        explicit State(Put what) : put(std::move(what)) {}
        Put put;
        std::shared_ptr<Round> asked;  // On its way.
        std::shared_ptr<Round> next;   // Those who came since.
    };

    static Task<Result<T>> wait(std::shared_ptr<State> state) {
        auto const executor = co_await asio::this_coro::executor;
        auto& place = state->asked ? state->next : state->asked;
        bool const first = !state->asked;
        if (!place) place = std::make_shared<Round>(executor);
        auto const round = place;
        // Not by one of those who wait: any of them may be ended early.
        if (first) asio::co_spawn(executor, put_all(state), asio::detached);
        while (!round->answer) co_await round->done.async_wait(asio::as_tuple(use_task));
        co_return *round->answer;
    }

    static Task<void> put_all(std::shared_ptr<State> state) {
        while (auto const round = state->asked) {
            round->answer.emplace(co_await state->put());
            round->done.cancel();
            state->asked = std::exchange(state->next, nullptr);
        }
    }

    std::shared_ptr<State> state_;
};

}  // namespace rollcall::live
