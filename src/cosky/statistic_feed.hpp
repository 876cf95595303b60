#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "cosky/counts_due.hpp"
#include "cosky/discovery_redis_scripts.hpp"
#include "cosky/event_stream.hpp"
#include "cosky/instance_event_scope.hpp"
#include "redis/background.hpp"

namespace rollcall::cosky {

/// Counts services of a namespace when something happened to their instances.
class StatisticFeed final : public EventStream {
public:
    StatisticFeed(std::shared_ptr<redis::ClientCore> client, std::string ns,
                  std::chrono::milliseconds pause);

    void confirmed(redis::Topic const& topic) override;
    void message(redis::Message const& message) override;
    void unreadable(redis::Topic const& topic, std::string_view channel) override;

private:
    void stop_working() noexcept override { work_.stop(); }
    void schedule();
    static Task<void> count_until_done(std::shared_ptr<StatisticFeed> self);
    Task<bool> count(CountsDue due);
    Task<Result<void>> count_one(std::optional<std::string> service);

    InstanceEventScope const scope_;
    std::chrono::milliseconds const pause_;
    DiscoveryRedisScripts const scripts_;

    // On the I/O thread only.
    CountsDue due_;
    bool counting_ = false;
    redis::Background work_;
};

}  // namespace rollcall::cosky
