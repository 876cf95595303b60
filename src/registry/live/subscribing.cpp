#include "registry/live/subscribing.hpp"

namespace rollcall::live {

void subscribe(LiveContext& context, redis::PushHandler& handler,
               LivePort::Channel const& channel) {
    auto& subscriber = context.core->subscriber();
    subscriber.attach(handler);
    // First, so that the confirmation comes when Redis tracks it.
    auto const tracked = subscriber.track(handler, context.evidence.epoch_key());
    auto const subscribed = subscriber.subscribe(handler, {channel.name, channel.pattern});
    for (auto const* const outcome : {&tracked, &subscribed}) {
        if (!outcome->has_error()) continue;
        context.core->log().write(LogLevel::warning, "watch", outcome->error().detail());
    }
}

}  // namespace rollcall::live
