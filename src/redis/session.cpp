#include "redis/session.hpp"

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/deferred.hpp>
#include <utility>

#include "redis/session_impl.hpp"

namespace rollcall::redis {
namespace {

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

auto submit(asio::io_context& io, Pipeline& pipeline, Operation& operation) {
    return asio::async_initiate<asio::deferred_t const, void()>(
        Submit{io.get_executor(), pipeline, operation}, asio::deferred);
}

/// The script calls of `request` that Redis answered with exactly NOSCRIPT: not executed.
std::vector<std::size_t> not_executed(Request const& request, Response const& response) {
    std::vector<std::size_t> found;
    auto const& scripts = request.scripts();
    for (std::size_t i = 0; i < scripts.size(); ++i) {
        auto const reply = response[scripts[i].command];
        if (reply.is_error() && reply.text().starts_with("NOSCRIPT ")) found.push_back(i);
    }
    return found;
}

}  // namespace

Session::Session(asio::io_context& io, SessionOptions options, Log log)
    : impl_(std::make_unique<Impl>(io, std::move(options), std::move(log))) {}

Session::~Session() = default;

void Session::start() { impl_->start(); }

void Session::stop() { impl_->stop(); }

bool Session::connected() const noexcept { return impl_->pipeline.is_open(); }

std::string const& Session::last_error() const noexcept { return impl_->last_error; }

std::string Session::local_address() const { return impl_->local_address(); }

Task<Result<void>> Session::exec(Request const& request, Response& response, Deadline deadline,
                                 bool idempotent) {
    Operation operation{request, response, deadline, idempotent};
    co_await submit(impl_->io, impl_->pipeline, operation);
    if (operation.failure) co_return *std::move(operation.failure);

    auto const missing = not_executed(request, response);
    if (missing.empty()) co_return Result<void>{};
    Request again;
    std::vector<std::size_t> positions;
    for (auto const index : missing) {
        auto const& call = request.scripts()[index];
        again.push_evaluated(request, call);
        positions.push_back(call.command);
    }
    Response replies;
    Operation repeated{again, replies, deadline, idempotent};
    co_await submit(impl_->io, impl_->pipeline, repeated);
    if (repeated.failure) co_return *std::move(repeated.failure);
    response.replace(positions, std::move(replies));
    co_return Result<void>{};
}

}  // namespace rollcall::redis
