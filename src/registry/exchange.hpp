#pragma once

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

/// Sends all requests at once and waits for all answers. Shared, because the requests go on when
/// the waiting coroutine is ended early.
Task<void> exec_all(redis::Session& session, std::shared_ptr<Exchanges> exchanges,
                    Deadline deadline);

}  // namespace rollcall
