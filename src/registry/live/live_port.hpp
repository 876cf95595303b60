#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/deadline.hpp"
#include "core/result.hpp"
#include "redis/task.hpp"
#include "registry/live/sighting.hpp"

namespace rollcall {

/// What a layout does for those who watch its services.
///
/// Thread safety: the I/O thread only, construction aside.
class LivePort {
public:
    virtual ~LivePort() = default;

    struct Channel {
        std::string name = {};
        bool pattern = false;  ///< For PSUBSCRIBE.
    };
    /// Where changes of `service` are told.
    virtual Channel channel_of(std::string_view service) const = 0;

    /// Where changes of all services are told.
    virtual Channel channel_of_all() const = 0;
    /// Whose change a message on such a channel tells; none: of no service that can be watched.
    virtual std::optional<std::string> service_of(std::string_view channel) const = 0;
    /// All that can be watched. Cost: one round trip.
    virtual Task<Result<std::vector<std::string>>> services(Deadline deadline) = 0;

    struct Message {
        std::string id = {};  ///< Empty: about the service, and nobody can tell what.
        News news = News::changed;
        /// For the layout's own listeners; null: they are told of no such message.
        std::shared_ptr<void const> event = {};
        bool readable = true;  ///< Else the channel alone tells the id.
    };
    /// What a message on that channel says; none if it concerns another service. Any bytes may be
    /// given.
    virtual std::optional<Message> read_message(std::string_view service, std::string_view channel,
                                                std::string_view payload) const = 0;

    /// One sighting for each id that `read` names, or for each that is listed. The generation is
    /// not this port's concern. Cost: two round trips for everything, one for some.
    virtual Task<Result<std::vector<Sighting>>> look(std::string const& service,
                                                     FeedRead const& read, Deadline deadline) = 0;

    /// Takes listed ids without a Hash off the list, where readers of the layout do that.
    virtual Task<void> clean_up(std::string const& service, std::vector<std::string> const& ids,
                                Deadline deadline) = 0;

    /// Whether each of `services` is in the list of services, where a heartbeat does not see to
    /// that. Cost: one round trip, or none. `services` must outlive the task.
    virtual Task<Result<std::vector<bool>>> listed(std::vector<std::string> const& services,
                                                   Deadline /*deadline*/) {
        co_return std::vector<bool>(services.size(), true);
    }

    virtual std::string epoch_key() const = 0;
    virtual std::chrono::milliseconds lease() const noexcept = 0;
};

}  // namespace rollcall
