#include "cosky/statistic_feed.hpp"

#include <algorithm>
#include <utility>

#include "core/text.hpp"

namespace rollcall::cosky {
namespace {

using std::chrono::milliseconds;

// After a failure, at first and at most.
constexpr milliseconds first_retry{1'000};
constexpr milliseconds longest_retry{5'000};

InstanceEventScope all_of(std::string ns) {
    InstanceEventScope scope;
    scope.ns = std::move(ns);
    return scope;
}

}  // namespace

StatisticFeed::StatisticFeed(std::shared_ptr<redis::ClientCore> client, std::string ns,
                             milliseconds pause)
    : EventStream(client, all_of(ns).topic()),
      scope_(all_of(std::move(ns))),
      pause_(pause),
      scripts_(std::move(client)) {}

void StatisticFeed::confirmed(redis::Topic const&) {
    due_.add_all();
    schedule();
}

void StatisticFeed::message(redis::Message const& message) {
    auto const event = scope_.read(message.channel, message.payload);
    if (event.has_error()) {
        core().log().write(LogLevel::warning, "skipped message",
                           joined({"skipped ", event.error().detail()}));
        return;
    }
    if (!*event || (*event)->event == InstanceEvent::renewed) return;
    due_.add((*event)->service_name);
    schedule();
}

void StatisticFeed::unreadable(redis::Topic const&, std::string_view channel) {
    core().log().write(
        LogLevel::warning, "skipped message",
        joined({"skipped a message on ", shown(channel), ": too large, or no text"}));
}

void StatisticFeed::schedule() {
    if (std::exchange(counting_, true)) return;
    auto self = std::static_pointer_cast<StatisticFeed>(shared_from_this());
    work_ = core().spawn([self = std::move(self)] { return count_until_done(self); });
}

Task<void> StatisticFeed::count_until_done(std::shared_ptr<StatisticFeed> self) {
    auto wait = self->pause_;
    for (;;) {
        bool const goes_on = co_await pause(wait);
        if (!goes_on || self->due_.empty()) break;
        auto due = self->due_.take();
        bool const done = co_await self->count(std::move(due));
        wait = done ? self->pause_
                    : std::max(self->pause_, std::clamp(2 * wait, first_retry, longest_retry));
    }
    self->counting_ = false;
}

/// Whether all of it was counted; the rest is due again.
Task<bool> StatisticFeed::count(CountsDue due) {
    if (due.all()) {
        auto const counted = co_await count_one(std::nullopt);
        if (counted.has_error()) due_.add_all();
        co_return !counted.has_error();
    }
    bool all_counted = true;
    bool reached = true;
    for (auto const& service : due.services()) {
        if (reached) {
            auto const counted = co_await count_one(service);
            if (!counted.has_error()) continue;
            reached = !is_unanswered(counted.error());
        }
        all_counted = false;
        due_.add(service);
    }
    co_return all_counted;
}

Task<Result<void>> StatisticFeed::count_one(std::optional<std::string> service) {
    auto const counted = co_await scripts_.service_stat(scope_.ns, service, core().deadline());
    if (counted.has_error()) {
        auto const& error = counted.error();
        core().log().write(LogLevel::warning, "statistic",
                           joined({"counting ", service.value_or("all services"), " in ", scope_.ns,
                                   " failed: ", error.code().message(), ": ", error.detail()}));
    }
    co_return counted;
}

}  // namespace rollcall::cosky
