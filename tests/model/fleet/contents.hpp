#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/fleet/scene.hpp"
#include "registry/live/live_port.hpp"
#include "registry/live/sighting.hpp"
#include "support/golden.hpp"

#include "rollcall/instance.hpp"

namespace rollcall::test::fleet {

/// What one Redis holds of one layout. What it does to the data is done by the reference model of
/// the layout, which random sequences compare with a real Redis; added here is that time passes.
///
/// Times are epoch milliseconds of Redis' clock.
class Contents {
public:
    using Clock = std::int64_t;
    using Ids = std::vector<std::string>;

    virtual ~Contents() = default;
    virtual std::unique_ptr<Contents> copy() const = 0;

    /// Every other call is preceded by this one. Whether a Hash came to its end.
    virtual bool pass_to(Clock now) = 0;
    virtual Clock next_end() const = 0;  ///< Of a Hash; the largest value if there is none.

    // What owners of ours do, each in one script.
    enum class Beat : std::uint8_t { alive, gone };
    virtual void register_instance(ServiceInstance const& instance) = 0;
    virtual void deregister(ServiceInstance const& instance) = 0;
    virtual Beat heartbeat(ServiceInstance const& instance) = 0;
    /// Metadata and what else the layout stores; false: it is not there.
    virtual bool describe(ServiceInstance const& instance) = 0;
    /// What follows a change, where that is not one step.
    virtual void announce_change(ServiceInstance const& instance) = 0;
    virtual bool lists(std::string const& service) const = 0;

    // What programs of the JVM do, by a clock of their own where the layout has it so.
    virtual void register_by(ServiceInstance const& instance, milliseconds skew) = 0;
    virtual Beat heartbeat_by(ServiceInstance const& instance, milliseconds skew) = 0;
    /// Whether it was there, as far as they are told.
    virtual bool deregister_by(ServiceInstance const& instance) = 0;
    virtual void clean_up_by(std::string const& service, milliseconds skew) = 0;

    // Housekeeping of ours.
    virtual void sweep(std::string const& service) = 0;
    virtual void clean_up(std::string const& service, Ids const& ids) = 0;

    virtual void evict_hash(ServiceInstance const& instance) = 0;

    // What readers ask. A sighting has the lease as what is left of it, since the epoch of the
    // clock that `lease_until` counts by.
    struct Member {
        std::string id;
        std::optional<Clock> lease_end;  ///< Where the list has times.
    };
    virtual std::vector<Member> list(std::string const& service) const = 0;
    /// Of one that `list` named.
    virtual Sighting look(std::string const& service, Member const& member,
                          bool descriptions) const = 0;
    virtual Sighting look(std::string const& service, std::string const& id,
                          bool descriptions) const = 0;
    /// As which leases are given.
    Time moment(Clock end) const { return Time{milliseconds{end}}; }

    /// Whether readers find it, and until when they will if nobody renews it.
    virtual bool serves(ServiceInstance const& instance) const = 0;
    virtual Clock lease_end(ServiceInstance const& instance) const = 0;

    struct Said {
        std::string service;
        LivePort::Message message;
    };
    /// What was published since the last call, as our readers read it.
    virtual std::vector<Said> said() = 0;
};

std::unique_ptr<Contents> make_contents(Layout layout);
std::unique_ptr<Contents> make_streaming_contents();
std::unique_ptr<Contents> make_cosky_contents();

/// What the id of an instance of owner `owner` is in the layout.
std::string id_of(Layout layout, std::string const& service, std::size_t owner);

inline constexpr int first_port = 80;
inline constexpr Contents::Clock never = std::int64_t{1} << 60U;

}  // namespace rollcall::test::fleet
