#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/deadline.hpp"
#include "core/log.hpp"
#include "core/result.hpp"
#include "redis/session.hpp"
#include "redis/task.hpp"
#include "registry/exchange.hpp"

// How calls of scripts are sent and answered. A `Script` says for one kind of call what is sent and
// what comes back; coroutines copy it, so it refers to what it needs and owns nothing:
//
//     using Call = …;
//     using Reply = …;
//     void push(redis::Request& request, Call const& call) const;  // Exactly one command.
//     Result<Reply> read(Call const& call, redis::Value reply) const;

namespace rollcall {

/// Calls that travel in one request: enough to make round trips cheap, few enough that other
/// requests on the connection are not held up for long.
inline constexpr std::size_t calls_per_request = 32;

/// For a reply that the script does not give.
inline Failure odd_reply(std::string what) {
    return {errc::unexpected_reply, std::move(what) + ": the script's reply has another shape"};
}

/// What failed, for its message, such as `register orders/o-1`.
inline std::string subject(std::string_view verb, std::string_view service,
                           std::string_view id = {}) {
    std::string text{verb};
    text.append(" ").append(service);
    if (!id.empty()) text.append("/").append(id);
    return text;
}

/// Notes in the log that Redis refused a message with `why`, and which right is missing: that to
/// publish, or that to the channels of `pattern`.
void note_refused(Log const& log, std::string_view channel, std::string_view pattern,
                  std::string_view why);

template <class Script>
Task<Result<typename Script::Reply>> execute_one(redis::Session& session, Script script,
                                                 typename Script::Call const& call,
                                                 Deadline deadline) {
    redis::Request request;
    redis::Response response;
    script.push(request, call);
    auto const outcome = co_await session.exec(request, response, deadline);
    if (outcome.has_error()) co_return outcome.error();
    auto result = script.read(call, response[0]);
    if constexpr (requires { result->repeated; }) {
        if (result.has_value()) result->repeated = response.repeated();
    }
    co_return result;
}

/// Sends all calls together and answers each on its own, in order. `calls` must outlive the task.
template <class Script>
Task<std::vector<Result<typename Script::Reply>>> execute_all(
    redis::Session& session, Script script, std::span<typename Script::Call const> calls,
    Deadline deadline) {
    auto const exchanges = std::make_shared<Exchanges>();
    exchanges->reserve((calls.size() + calls_per_request - 1) / calls_per_request);
    for (std::size_t i = 0; i < calls.size(); ++i) {
        if (i % calls_per_request == 0) exchanges->emplace_back();
        script.push(exchanges->back().request, calls[i]);
    }
    co_await exec_all(session, exchanges, deadline);
    std::vector<Result<typename Script::Reply>> results;
    results.reserve(calls.size());
    for (std::size_t i = 0; i < calls.size(); ++i) {
        auto const& exchange = (*exchanges)[i / calls_per_request];
        if (exchange.failure) {
            results.emplace_back(*exchange.failure);
        } else {
            results.push_back(script.read(calls[i], exchange.response[i % calls_per_request]));
        }
    }
    co_return results;
}

}  // namespace rollcall
