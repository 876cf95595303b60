#pragma once

#include <memory>
#include <string>

#include "rollcall/announcement.hpp"

namespace rollcall::announce {
class Announcer;
struct RenewalState;
}  // namespace rollcall::announce

#pragma GCC visibility push(default)

namespace rollcall {

/// Renews one instance that somebody else registers, as a sidecar does for a program that cannot,
/// and does nothing else to it: it is never registered, changed, or deregistered, whatever happens.
///
/// It goes on asking while the instance is not there, and renews it when its owner has registered
/// it again. After a connection, a restart or a loss of data it asks within 500 ms. What becomes of
/// the instance is told to its hook, else to the log, once until it changes:
///
///  - `registered`: it is there, the first time or again;
///  - `persistent`: it is there, and has no lease (CoSky);
///  - `removed_by_other`: somebody deregistered it while its lease ran, its owner for one;
///  - `lost`: it is not there for any other reason, from the beginning for one, or it is stored and
///    its service is not listed, so that not all readers find it (streaming), or it could not be
///    renewed for a lease;
///  - `refused`: it cannot be renewed unless somebody changes something in Redis.
///
/// Operators who drain it talk to its owner: that changes nothing here, nor do the renewals of its
/// owner, or of others.
///
/// Thread safety: distinct renewals, safe; one renewal, one thread at a time.
/// Lifetime: keeps what it needs of the client alive. Destroying it ends the renewing, without a
/// call to Redis; a renewal that is on its way may still arrive. The lease ends the instance then,
/// unless others renew it.
class [[nodiscard]] Renewal {
public:
    Renewal() noexcept;  ///< Of nothing.
    ~Renewal();
    Renewal(Renewal&&) noexcept;
    Renewal& operator=(Renewal&&) noexcept;

    std::string service_name() const;  ///< As it is stored.
    std::string instance_id() const;   ///< The same.
    bool registered() const noexcept;  ///< Whether Redis had it when last asked.

private:
    friend class announce::Announcer;
    explicit Renewal(std::shared_ptr<announce::RenewalState> state) noexcept;
    std::shared_ptr<announce::RenewalState> state_;  // Null: of nothing.
};

}  // namespace rollcall

#pragma GCC visibility pop
