#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "registry/live/live_port.hpp"
#include "registry/replies.hpp"
#include "streaming/instance_reader.hpp"

namespace rollcall::streaming {

/// What those who watch services of this layout read.
class LiveReader final : public LivePort {
public:
    LiveReader(RegistryLuaScriptExecutor const& scripts, InstanceReader& reader)
        : scripts_(scripts), reader_(reader) {}

    Channel channel_of(std::string_view service) const override;
    Channel channel_of_all() const override;
    std::optional<std::string> service_of(std::string_view channel) const override;
    Task<Result<std::vector<std::string>>> services(Deadline deadline) override;
    std::optional<Message> read_message(std::string_view service, std::string_view channel,
                                        std::string_view payload) const override;
    Task<Result<std::vector<Sighting>>> look(std::string const& service, FeedRead const& read,
                                             Deadline deadline) override;
    /// What has expired stays listed until somebody sweeps.
    Task<void> clean_up(std::string const& service, std::vector<std::string> const& ids,
                        Deadline deadline) override;
    Task<Result<std::vector<bool>>> listed(std::vector<std::string> const& services,
                                           Deadline deadline) override;
    std::string epoch_key() const override;
    std::chrono::milliseconds lease() const noexcept override { return scripts_.lease(); }

private:
    struct Glance;
    Task<Result<std::vector<Sighting>>> look_at_all(std::string const& service, bool descriptions,
                                                    Deadline deadline);
    Task<Result<std::vector<Sighting>>> look_at(std::string const& service, FeedRead const& read,
                                                Deadline deadline);
    Sighting sighting_of(std::string const& service, std::string const& id, Glance const& glance,
                         Milliseconds now, Deadline seen) const;
    /// One that is listed with this heartbeat, which Redis had at `now`, the moment `seen`.
    Sighting listed(std::string id, double heartbeat, Milliseconds now, Deadline seen) const;
    static void describe(Sighting& sighting, std::string const& service,
                         std::span<HashField const> fields);

    RegistryLuaScriptExecutor const& scripts_;
    InstanceReader& reader_;
};

}  // namespace rollcall::streaming
