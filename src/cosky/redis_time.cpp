#include "cosky/redis_time.hpp"

#include "redis/request.hpp"
#include "redis/session.hpp"
#include "registry/replies.hpp"

namespace rollcall::cosky {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds usual_pause{60'000};
constexpr milliseconds retry_pause{500};

}  // namespace

Task<void> RedisTime::run(std::shared_ptr<RedisTime> self) {
    for (;;) {
        bool const done = co_await self->read();
        auto const wait = done ? usual_pause : retry_pause;
        bool const goes_on = co_await pause(wait);
        if (!goes_on) co_return;
    }
}

Task<bool> RedisTime::read() {
    redis::Request request;
    redis::Response response;
    request.push("TIME");
    auto const outcome = co_await core_->session().exec(request, response, core_->deadline());
    if (outcome.has_error() || response[0].is_error()) co_return false;
    auto const time = time_of(response[0]);
    std::lock_guard const lock{mutex_};
    clock_.read(time, time, RedisClock::Moment::clock::now());
    changed_.notify_all();
    co_return true;
}

std::optional<RedisClock::Time> RedisTime::now(Deadline deadline) const {
    auto const estimate = [this] { return clock_.estimate(RedisClock::Moment::clock::now()); };
    std::unique_lock lock{mutex_};
    changed_.wait_until(lock, deadline, [&] { return estimate().has_value(); });
    return estimate();
}

}  // namespace rollcall::cosky
