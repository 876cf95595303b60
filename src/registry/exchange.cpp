#include "registry/exchange.hpp"

#include <algorithm>
#include <array>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/this_coro.hpp>
#include <chrono>
#include <cstddef>
#include <exception>
#include <string_view>
#include <utility>

namespace rollcall {
namespace {

using Executor = asio::io_context::executor_type;
using Timer = asio::basic_waitable_timer<std::chrono::steady_clock,
                                         asio::wait_traits<std::chrono::steady_clock>, Executor>;

struct Gathering {
    Gathering(Executor const& executor, std::shared_ptr<Exchanges> all, OnAnswer told)
        : exchanges(std::move(all)),
          on_answer(std::move(told)),
          pending(exchanges->size()),
          done(executor, Timer::time_point::max()) {}

    std::shared_ptr<Exchanges> exchanges;
    OnAnswer on_answer;  // Empty when nobody waits any more.
    std::size_t pending;
    Timer done;  // Never expires; cancelled by the last answer.
};

Task<void> exec_one(redis::Session& session, Exchange& exchange, Deadline deadline) {
    auto outcome = co_await session.exec(exchange.request, exchange.response, deadline);
    if (outcome.has_error()) exchange.failure = std::move(outcome).error();
}

Task<void> exec_one_of(redis::Session& session, std::shared_ptr<Gathering> gathering,
                       std::size_t index, Deadline deadline) {
    co_await exec_one(session, (*gathering->exchanges)[index], deadline);
    if (gathering->on_answer) gathering->on_answer(index);
}

}  // namespace

Task<void> exec_all(redis::Session& session, std::shared_ptr<Exchanges> exchanges,
                    Deadline deadline, OnAnswer on_answer) {
    if (exchanges->size() == 1) {
        co_await exec_one(session, exchanges->front(), deadline);
        if (on_answer) on_answer(0);
        co_return;
    }
    auto const executor = co_await asio::this_coro::executor;
    auto const gathering = std::make_shared<Gathering>(executor, exchanges, std::move(on_answer));
    struct Guard {
        Gathering& gathering;
        ~Guard() { gathering.on_answer = nullptr; }
    } const guard{*gathering};
    for (std::size_t i = 0; i < exchanges->size(); ++i) {
        asio::co_spawn(executor, exec_one_of(session, gathering, i, deadline),
                       [gathering, i](std::exception_ptr thrown) {
                           if (thrown) {
                               (*gathering->exchanges)[i].failure.emplace(
                                   errc::closed, "the request was abandoned");
                           }
                           if (--gathering->pending == 0) gathering->done.cancel();
                       });
    }
    while (gathering->pending > 0) {
        co_await gathering->done.async_wait(asio::as_tuple(use_task));
    }
}

Task<Result<void>> exec_reads(redis::Session& session, Reads const& reads, Deadline deadline) {
    if (reads.items == 0) co_return Result<void>{};
    auto const exchanges =
        std::make_shared<Exchanges>((reads.items + reads.per_request - 1) / reads.per_request);
    for (std::size_t i = 0; i < reads.items; ++i) {
        reads.push((*exchanges)[i / reads.per_request].request, i);
    }
    for (auto& exchange : *exchanges) {
        exchange.response.expect(reads.per_request * reads.nodes, reads.per_request * reads.bytes);
    }
    std::optional<Failure> failure;
    OnAnswer const on_answer = [&](std::size_t index) {
        auto& exchange = (*exchanges)[index];
        if (failure) return;
        failure = std::move(exchange.failure);
        auto const first = index * reads.per_request;
        auto const last = std::min(first + reads.per_request, reads.items);
        if (!failure) failure = reads.take(exchange.response, first, last);
        exchange.response = redis::Response{};  // The next one can have its memory.
    };
    co_await exec_all(session, exchanges, deadline, on_answer);
    if (failure) co_return *std::move(failure);
    co_return Result<void>{};
}

Task<Result<std::vector<std::string>>> set_members(redis::Session& session, std::string const& key,
                                                   Deadline deadline) {
    redis::Request request;
    redis::Response response;
    std::array<std::string_view, 1> const arguments{key};
    request.push("SMEMBERS", arguments);
    auto const outcome = co_await session.exec(request, response, deadline);
    if (outcome.has_error()) co_return outcome.error();
    if (response[0].is_error()) co_return redis::failure_of(response[0], "read " + key);
    std::vector<std::string> result;
    result.reserve(response[0].size());
    for (auto const member : response[0]) result.emplace_back(member.text());
    std::sort(result.begin(), result.end());
    co_return result;
}

}  // namespace rollcall
