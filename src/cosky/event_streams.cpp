#include "cosky/event_streams.hpp"

#include <utility>

namespace rollcall::cosky {

EventSubscription EventStreams::add(std::shared_ptr<EventStream> stream) {
    if (core_->closed()) throw_exception_from_error(redis::was_forked(), {});
    auto& added = *stream;
    {
        std::lock_guard const lock{mutex_};
        if (closed_) throw Error{errc::closed, "the listener container was closed"};
        running_.emplace(&added, stream);
    }
    EventSubscription subscription{
        [streams = shared_from_this(), stream = std::move(stream)]() mutable {
            end(std::move(streams), std::move(stream));
        }};
    added.start().value();
    return subscription;
}

void EventStreams::end(std::shared_ptr<EventStreams> streams, std::shared_ptr<EventStream> stream) {
    if (streams->core_->closed()) {
        // The parent's threads may have been inside when this process was forked.
        static_cast<void>(new std::shared_ptr{std::move(stream)});
        static_cast<void>(new std::shared_ptr{std::move(streams)});
        return;
    }
    stream->stop();
    streams->remove(*stream);
}

void EventStreams::remove(EventStream& stream) {
    std::lock_guard const lock{mutex_};
    running_.erase(&stream);
}

void EventStreams::close() noexcept {
    if (core_->closed()) return;
    std::unordered_map<EventStream*, std::weak_ptr<EventStream>> ended;
    {
        std::lock_guard const lock{mutex_};
        closed_ = true;
        ended.swap(running_);
    }
    for (auto const& [address, running] : ended) {
        if (auto const stream = running.lock()) stream->stop();
    }
}

}  // namespace rollcall::cosky
