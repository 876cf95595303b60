#pragma once

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/deferred.hpp>
#include <utility>

#include "redis/pipeline.hpp"
#include "redis/task.hpp"

namespace rollcall::redis {

/// Puts an operation into the pipeline; it resumes the coroutine that waits for it.
class Submit {
public:
    using executor_type = asio::io_context::executor_type;

    Submit(executor_type executor, Pipeline& pipeline, Operation& operation)
        : executor_(std::move(executor)), pipeline_(&pipeline), operation_(&operation) {}

    executor_type get_executor() const noexcept { return executor_; }

    template <class Handler>
    void operator()(Handler&& handler) {
        operation_->resume = std::forward<Handler>(handler);
        // Of the erased handler: erasing takes over the slot of the original.
        auto slot = asio::get_associated_cancellation_slot(operation_->resume);
        if (slot.is_connected()) {
            slot.assign([pipeline = pipeline_, operation = operation_](asio::cancellation_type) {
                pipeline->cancel(*operation);
            });
        }
        pipeline_->submit(*operation_);
    }

private:
    executor_type executor_;
    Pipeline* pipeline_;
    Operation* operation_;
};

/// To be awaited; `operation` must outlive it.
inline auto submit(asio::io_context& io, Pipeline& pipeline, Operation& operation) {
    return asio::async_initiate<asio::deferred_t const, void()>(
        Submit{io.get_executor(), pipeline, operation}, asio::deferred);
}

}  // namespace rollcall::redis
