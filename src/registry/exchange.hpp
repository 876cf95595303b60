#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
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

/// Many reads of one kind, in requests of bounded size. The sizes are what is usual for an item's
/// reply, generously: memory is set aside for that.
struct Reads {
    std::size_t items = 0;
    std::size_t per_request = 64;
    std::size_t nodes = 1;
    std::size_t bytes = 64;
    /// Adds what asks for the item to a request; the same number of commands for each.
    std::function<void(redis::Request& request, std::size_t item)> push = {};
    /// Takes the answers to a request that holds the items from `first` up to `last`.
    std::function<std::optional<Failure>(redis::Response const& response, std::size_t first,
                                         std::size_t last)>
        take = {};
};

/// Sends all requests at once; `take` is called for each answer as with `exec_all`, no more after a
/// failure. `reads` must outlive the task.
Task<Result<void>> exec_reads(redis::Session& session, Reads const& reads, Deadline deadline);

/// The members of a set, sorted; none of a key that is not there. Cost: one round trip.
Task<Result<std::vector<std::string>>> set_members(redis::Session& session, std::string const& key,
                                                   Deadline deadline);

}  // namespace rollcall
