#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <system_error>

#include "rollcall/instance.hpp"

namespace rollcall::announce {
class Announcer;
struct AnnouncementState;
}  // namespace rollcall::announce

#pragma GCC visibility push(default)

namespace rollcall {

/// What became of an announced instance.
enum class AnnouncementEvent {
    registered,        ///< Or registered again, or renewed again after what follows.
    lost,              ///< Redis does not have it any more, as after a restart, or it could not be
                       ///< renewed for a lease.
    removed_by_other,  ///< Somebody deregistered it while its lease ran.
    refused,           ///< It cannot be stored or renewed unless somebody changes something; tried
                       ///< again.
    conflict,          ///< Another process keeps an instance with this id alive, too. Found by
                       ///< its renewals, within twelve rounds; told once until they end. Not of
                       ///< persistent instances of CoSky, which nobody renews.
    drained,           ///< An operator wants it to get no traffic for a while.
    restored,          ///< That while is over; right behind `drained` if it was short.
    released,          ///< Deregistered, as asked.
    persistent,        ///< Only of a `Renewal`: it is there, and has no lease to be renewed.
};

struct AnnounceOptions {
    /// Whether an instance that somebody else deregistered is left out; else it is registered
    /// again.
    bool stay_out = false;
    /// Told of what happens to it, in order, on the client's callback thread. What it throws is
    /// logged and ends nothing. It is not called any more once the announcement is destroyed, which
    /// waits for a call that is going on, unless that is what destroys it.
    std::function<void(AnnouncementEvent)> on_event = {};
};

/// Keeps one instance registered: renews it in time, registers it again when Redis lost it, with
/// the description that it was given last.
///
/// Changes (`update_metadata`, `set_enabled`, `set_healthy`, `set_weight`) are what is wanted from
/// now on: they return at once, are written as soon as Redis can be reached, and survive its
/// restart (they are written once more then: the data may be an older copy). Only what has changed
/// is written: what an operator changed of the rest in Redis stays until the instance is registered
/// anew, by its owner's restart or after a loss. Then the owner's description wins.
///
/// While an operator drains it, it is disabled, or deregistered where the layout stores no such
/// thing (CoSky), and gets back what is wanted with the first round after that, also when it heard
/// of the drain only then. A drain is no removal: `stay_out` does not concern it.
///
/// A deregistration that Redis does not answer is repeated until the lease has ended the instance.
///
/// Thread safety: distinct announcements, safe; one announcement, one thread at a time.
/// Lifetime: keeps what it needs of the client alive. Destroying it deregisters, and waits for that
/// a second at most, hardly at all while Redis is away, and then for its hook. However many end one
/// after another, they wait a second altogether: who does not wait is deregistered meanwhile, at
/// the latest at the end of the `Registry` and all that it announced. The client's end cuts it
/// short. In a forked child nothing happens.
class [[nodiscard]] Announcement {
public:
    Announcement() noexcept;
    ~Announcement();
    Announcement(Announcement&&) noexcept;
    Announcement& operator=(Announcement&&) noexcept;

    /// As it is wanted now, with its id and names as they are stored; a default one if nothing is
    /// announced.
    ServiceInstance instance() const;
    /// Whether Redis confirmed it at the last call about it, and not longer ago than a lease.
    bool registered() const noexcept;

    /// Replaces all metadata. Errors: `std::invalid_argument` names the field, the value and the
    /// rule.
    void update_metadata(Metadata metadata);
    /// Errors: `errc::not_supported` of a layout without that mark (cosky).
    void set_enabled(bool on);
    /// Errors: as of `set_enabled`.
    void set_healthy(bool on);
    /// 0…1,000,000.
    void set_weight(int weight);

    /// Ends it without losing a call, on the calling thread: streaming: disabled, so that nobody
    /// chooses it any more, then `settle` passes, then it is deregistered. CoSky has no such mark,
    /// so it is deregistered and then `settle` passes. Returns when all of that is done, or failed:
    /// as `release`. The end of the `Client` cuts `settle` short.
    void drain(std::chrono::milliseconds settle);
    void drain(std::chrono::milliseconds settle, std::error_code& error);

    /// Deregisters and waits for the answer, at most the client's request timeout. Nothing of this
    /// process brings the instance back afterwards, whatever it returns. After a failure the
    /// deregistration goes on; another call tries at once, and waits for the answer to that.
    ///
    /// Errors: as of a deregistration; its lease ends it then.
    void release();
    void release(std::error_code& error);

    /// The same without waiting: `AnnouncementEvent::released` tells when it is done. `release` may
    /// still be called, to wait.
    void start_release();

private:
    friend class announce::Announcer;
    explicit Announcement(std::shared_ptr<announce::AnnouncementState> state) noexcept;
    std::shared_ptr<announce::AnnouncementState> state_;  // Null: nothing is announced.
};

}  // namespace rollcall

#pragma GCC visibility pop
