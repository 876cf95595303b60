#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cosky/discovery_redis_scripts.hpp"
#include "registry/live/live_port.hpp"

namespace rollcall::cosky {

/// What those who watch services of this layout read.
class LiveReader final : public LivePort {
public:
    LiveReader(DiscoveryRedisScripts const& scripts, std::string ns, std::chrono::seconds lease)
        : scripts_(scripts), ns_(std::move(ns)), lease_(lease) {}

    Channel channel_of(std::string_view service) const override;
    Channel channel_of_all() const override;
    std::optional<std::string> service_of(std::string_view channel) const override;
    Task<Result<std::vector<std::string>>> services(Deadline deadline) override;
    std::optional<Message> read_message(std::string_view service, std::string_view channel,
                                        std::string_view payload) const override;
    Task<Result<std::vector<Sighting>>> look(std::string const& service, FeedRead const& read,
                                             Deadline deadline) override;
    Task<void> clean_up(std::string const& service, std::vector<std::string> const& ids,
                        Deadline deadline) override;
    std::string epoch_key() const override;
    std::chrono::milliseconds lease() const noexcept override { return lease_; }

private:
    struct Glance;
    Task<Result<std::vector<Sighting>>> look_at(std::string const& service,
                                                std::vector<std::string> const& ids,
                                                FeedRead const& read, Deadline deadline);

    DiscoveryRedisScripts const& scripts_;
    std::string ns_;
    std::chrono::seconds lease_;
};

}  // namespace rollcall::cosky
