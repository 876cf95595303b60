#include "cosky/event_stream.hpp"

namespace rollcall::cosky {

Result<void> EventStream::start() {
    return core_->run([this] { return attach(); });
}

void EventStream::stop() noexcept {
    stop_telling();
    try {
        auto const done = core_->run([this] { return detach(); });
        // This is the I/O thread, which cannot wait for itself.
        if (done.has_error() && !core_->closed()) detach_now();
    } catch (std::exception const& error) {
        core_->log().write(LogLevel::error, "unsubscribe", error.what());
    }
    stop_working();
}

Task<Result<void>> EventStream::attach() {
    if (stopped_) co_return Result<void>{};
    auto& subscriber = core_->subscriber();
    attached_ = true;
    prepare(subscriber);
    co_return subscriber.subscribe(*this, topic_);
}

Task<Result<void>> EventStream::detach() {
    detach_now();
    co_return Result<void>{};
}

void EventStream::detach_now() noexcept {
    stopped_ = true;
    if (attached_) core_->subscriber().detach(*this);
}

}  // namespace rollcall::cosky
