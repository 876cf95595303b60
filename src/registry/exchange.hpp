#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "core/deadline.hpp"
#include "core/result.hpp"
#include "redis/request.hpp"
#include "redis/session.hpp"
#include "redis/task.hpp"

namespace rollcall {

/// A request and what came back: `failure` when there is no complete answer.
struct Exchange {
    redis::Request request = {};
    redis::Response response = {};
    std::optional<Failure> failure = {};
};

using Exchanges = std::vector<Exchange>;

/// Told the index of an exchange that is complete.
using OnAnswer = std::function<void(std::size_t index)>;

/// Sends all requests at once and waits for all answers. Shared, because the requests go on when
/// the waiting coroutine is ended early; `on_answer` is not called any more then. Until then it is
/// called for each, in order while the connection lasts, and answers that still come overlap with
/// what it does.
Task<void> exec_all(redis::Session& session, std::shared_ptr<Exchanges> exchanges,
                    Deadline deadline, OnAnswer on_answer = {});

}  // namespace rollcall
