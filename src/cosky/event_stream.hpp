#pragma once

#include <memory>
#include <string_view>
#include <utility>

#include "redis/callback_queue.hpp"
#include "redis/client_core.hpp"
#include "redis/push_handler.hpp"

namespace rollcall::cosky {

/// What comes by one topic, from `start` to `stop`.
///
/// Thread safety: `start` and `stop` from any thread; what a `PushHandler` has, on the I/O thread.
/// Lifetime: owned by `shared_ptr`; must be stopped before it ends, but in a forked child neither
/// be stopped nor end.
class EventStream : public redis::PushHandler, public std::enable_shared_from_this<EventStream> {
public:
    EventStream(std::shared_ptr<redis::ClientCore> core, redis::Topic topic)
        : core_(std::move(core)), topic_(std::move(topic)) {}
    virtual ~EventStream() = default;
    EventStream(EventStream const&) = delete;
    EventStream& operator=(EventStream const&) = delete;

    /// Once. Nothing, when it was stopped before. Errors: `errc::overloaded`, `errc::closed`.
    Result<void> start();
    /// When it returns, no handler runs and none will again, and so with who is told of events,
    /// unless it was called by him.
    void stop() noexcept;

    redis::ClientCore& core() const noexcept { return *core_; }

    // The subscriber logs refusals; the next confirmation tells what a loss means.
    void refused(redis::Topic const&, Failure const&) override {}
    void invalidated(std::string_view) override {}
    void lost(std::string_view) override {}

protected:
    std::shared_ptr<redis::ClientCore> const& shared_core() const noexcept { return core_; }

    /// What else is to be wanted of the subscriber, before the topic; on the I/O thread.
    virtual void prepare(redis::Subscriber&) {}
    /// The first thing that `stop` does, on its thread.
    virtual void stop_telling() noexcept {}
    /// The last, when no handler runs any more; on its thread.
    virtual void stop_working() noexcept {}

private:
    Task<Result<void>> attach();
    Task<Result<void>> detach();
    void detach_now() noexcept;

    std::shared_ptr<redis::ClientCore> const core_;
    redis::Topic const topic_;
    // On the I/O thread only.
    bool attached_ = false;
    bool stopped_ = false;
};

/// One whose events are told to a listener: a `resync` whenever events may have been missed.
template <class Event>
class ListenedStream : public EventStream {
public:
    using Queue = redis::CallbackQueue<Event>;

    ListenedStream(std::shared_ptr<redis::ClientCore> client, redis::Topic topic, Event resync,
                   typename Queue::Callback listener)
        : EventStream(std::move(client), std::move(topic)),
          resync_(std::move(resync)),
          queue_(std::make_shared<Queue>(
              std::move(listener), [resync = resync_](Event&&) { return resync; },
              core().callbacks())) {}

    void confirmed(redis::Topic const&) override { tell(resync_); }

protected:
    void tell(Event event) { queue_->post(std::move(event)); }
    Event const& resync() const noexcept { return resync_; }

private:
    void stop_telling() noexcept override { queue_->stop(); }

    Event const resync_;
    std::shared_ptr<Queue> const queue_;
};

}  // namespace rollcall::cosky
