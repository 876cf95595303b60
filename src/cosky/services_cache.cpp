#include "cosky/services_cache.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "core/text.hpp"

#include "rollcall/cosky/discovery_key_generator.hpp"

namespace rollcall::cosky {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds first_retry{100};
constexpr milliseconds longest_retry{1'000};
constexpr milliseconds reread_period{60'000};

redis::Topic topic_of(std::string const& ns) {
    return {DiscoveryKeyGenerator::service_idx_key(ns), false};
}

}  // namespace

ServicesCache::ServicesCache(std::shared_ptr<redis::ClientCore> client, std::string ns)
    : EventStream(client, topic_of(ns)),
      ns_(std::move(ns)),
      scripts_(std::move(client)),
      reader_(scripts_) {}

Result<ServicesCache::Names> ServicesCache::names(Deadline deadline) const {
    std::unique_lock lock{mutex_};
    changed_.wait_until(lock, deadline, [this] { return names_ || refused_; });
    if (refused_) return Names{};
    if (names_) return names_;
    if (failure_) return *failure_;
    return Failure{errc::timeout, joined({"the services of ", ns_, " were not read in time"})};
}

void ServicesCache::confirmed(redis::Topic const&) {
    {
        std::lock_guard const lock{mutex_};
        refused_ = false;
    }
    load();
}

/// A flush publishes nothing.
void ServicesCache::prepare(redis::Subscriber& subscriber) {
    auto const tracked = subscriber.track(*this, topic_of(ns_).name);
    if (tracked.has_error()) {
        core().log().write(LogLevel::warning, "watch", tracked.error().detail());
    }
    auto self = std::static_pointer_cast<ServicesCache>(shared_from_this());
    rereading_ = core().spawn([self = std::move(self)] { return load_now_and_then(self); });
}

void ServicesCache::stop_working() noexcept {
    rereading_.stop();
    work_.stop();
}

void ServicesCache::invalidated(std::string_view) { load(); }

void ServicesCache::message(redis::Message const&) { load(); }

void ServicesCache::unreadable(redis::Topic const&, std::string_view) { load(); }

void ServicesCache::refused(redis::Topic const&, Failure const&) {
    std::lock_guard const lock{mutex_};
    refused_ = true;
    names_.reset();
    changed_.notify_all();
}

void ServicesCache::load() {
    wanted_ = true;
    if (std::exchange(loading_, true)) return;
    auto self = std::static_pointer_cast<ServicesCache>(shared_from_this());
    work_ = core().spawn([self = std::move(self)] { return load_until_done(self); });
}

Task<void> ServicesCache::load_now_and_then(std::shared_ptr<ServicesCache> self) {
    for (;;) {
        bool const goes_on = co_await pause(reread_period);
        if (!goes_on) co_return;
        self->load();
    }
}

/// What happens while it reads is read afterwards.
Task<void> ServicesCache::load_until_done(std::shared_ptr<ServicesCache> self) {
    auto retry = first_retry;
    while (std::exchange(self->wanted_, false)) {
        auto read = co_await self->reader_.services(self->ns_, self->core().deadline());
        bool const failed = read.has_error();
        self->take(std::move(read));
        if (!failed) {
            retry = first_retry;
            continue;
        }
        self->wanted_ = true;
        auto const wait = std::exchange(retry, std::min(2 * retry, longest_retry));
        bool const goes_on = co_await pause(wait);
        if (!goes_on) co_return;
    }
    self->loading_ = false;
}

void ServicesCache::take(Result<std::vector<std::string>> read) {
    std::lock_guard const lock{mutex_};
    if (read.has_error()) {
        failure_ = read.error();
        return;
    }
    failure_.reset();
    names_ = std::make_shared<std::vector<std::string> const>(*std::move(read));
    changed_.notify_all();
}

}  // namespace rollcall::cosky
