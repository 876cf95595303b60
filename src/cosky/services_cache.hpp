#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "cosky/discovery_redis_scripts.hpp"
#include "cosky/event_stream.hpp"
#include "cosky/instance_reader.hpp"
#include "redis/background.hpp"

namespace rollcall::cosky {

/// The services of one namespace, read again after each event, each change of their key and, in
/// case both are refused, each minute.
class ServicesCache final : public EventStream {
public:
    using Names = std::shared_ptr<std::vector<std::string> const>;

    ServicesCache(std::shared_ptr<redis::ClientCore> client, std::string ns);

    /// As they were last read, once they have been. Null: Redis lets nobody listen, so that they
    /// must be read each time. Errors: why they have not been read until the deadline.
    Result<Names> names(Deadline deadline) const;

    void confirmed(redis::Topic const& topic) override;
    void message(redis::Message const& message) override;
    void unreadable(redis::Topic const& topic, std::string_view channel) override;
    void refused(redis::Topic const& topic, Failure const& why) override;
    void invalidated(std::string_view key) override;

private:
    void prepare(redis::Subscriber& subscriber) override;
    void stop_working() noexcept override;
    void load();
    void take(Result<std::vector<std::string>> read);
    static Task<void> load_until_done(std::shared_ptr<ServicesCache> self);
    static Task<void> load_now_and_then(std::shared_ptr<ServicesCache> self);

    std::string const ns_;
    DiscoveryRedisScripts const scripts_;

    // On the I/O thread only.
    InstanceReader reader_;
    bool wanted_ = false;
    bool loading_ = false;
    redis::Background work_;
    redis::Background rereading_;

    mutable std::mutex mutex_;  // Guards what is below.
    mutable std::condition_variable changed_;
    Names names_;  // Null before the first load.
    std::optional<Failure> failure_;
    bool refused_ = false;
};

}  // namespace rollcall::cosky
