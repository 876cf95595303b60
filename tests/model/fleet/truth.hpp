#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "model/fleet/redis.hpp"
#include "model/fleet/scene.hpp"

namespace rollcall::test::fleet {

/// An instance that may be there: one of each service for each owner.
struct Member {
    ServiceInstance instance;  ///< Named, with its address; not yet described.
    std::size_t owner = 0;
    std::size_t service = 0;
};

std::vector<Member> members_of(Scene const& scene);
std::string service_name(std::size_t service);
int version_of(ServiceInstance const& instance);
ServiceInstance described(Member const& member, int version);

/// The largest that was seen of each.
struct Figures {
    milliseconds hidden{0};
    milliseconds lingering{0};
    milliseconds unregistered{0};
    std::uint64_t checks = 0;
};

/// What is true of all instances, how far readers are from it, and whether owners did their part:
/// the definitions of "Truth under faults" in docs/robustness.md, looked at after every step.
class Truth {
public:
    Truth(Scene const& scene, std::vector<Member> const& members, Timeline const& timeline,
          Redis& redis);

    // Of owners, as they see it.
    void wanted(std::size_t member, int version, bool stay_out);
    void acknowledged(std::size_t member);
    void leaving(std::size_t member);
    void released(std::size_t member);
    void died(std::size_t owner);
    void abandoned(std::size_t member);  ///< Whatever is stored, nobody renews it.
    void told_removed(std::size_t member);
    void told_lost(std::size_t member);
    void drained(std::size_t member, bool on);

    // At the server.
    void stored(std::size_t member, bool by_jvm);
    void removed_by_owner(std::size_t member) { refresh(member); }
    void removed_by_other(std::size_t member, bool by_drain);
    void evicted(std::size_t member);
    void swept();  ///< Whatever was removed, was removed by others.
    void refresh(std::size_t member);
    void refresh();

    // Of the surroundings.
    void unclean(std::size_t process, Time until);
    void unclean(Time until);
    void disturbed();  ///< Connections or data: nobody needs to know a removal from a loss.
    void data_lost();
    void went_back();  ///< Redis holds an older copy.

    // Of readers.
    void shows(std::size_t reader, std::size_t member, bool suspect, int version);
    void shows_not(std::size_t reader, std::size_t member);

    /// Whether all is well now.
    void check();
    /// When all has been quiet for long: readers show what is wanted, and nothing else.
    void check_complete();

    std::string const& wrong() const noexcept { return wrong_; }
    void fail(std::string wrong) {
        if (wrong_.empty()) wrong_ = std::move(wrong);
    }
    Figures const& figures() const noexcept { return figures_; }
    std::string name(std::size_t member) const;

private:
    struct Life {
        int wanted = 0;  // Version; 0: it is not to be there.
        bool stay_out = false;
        bool out = false;
        bool stored = false;   // By this owner; else what is there is of the one before.
        bool changed = false;  // Since it was announced.
        bool copied = false;   // From an older copy, which may describe the owner before.
        bool leaving = false;
        bool drained = false;   // And thus not stored, in layouts that store no such mark.
        bool removed = false;   // By others, since it was last stored.
        bool by_drain = false;  // The same, for a while.
        bool evicted = false;
        bool disturbed = false;
        bool brought_back = false;  // By an older copy.
        std::optional<Time> acknowledged = {};
        std::optional<Time> released = {};
        std::optional<Time> ended = {};  // Its owner does not live, or cannot bring it back.
        bool serves = false;
        Time lease_end = Time::min();  // The last that Redis gave.
        std::optional<Time> absent_since = {};
    };
    struct View {
        bool shown = false;
        bool suspect = false;
        bool had = false;
        bool missed_since_release = false;
        int version = 0;
        Time suspect_since = Time::min();
    };

    bool healthy(Life const& life) const {
        return life.acknowledged && !life.released && !life.leaving && !life.ended && !life.out &&
               !life.drained && !life.removed;
    }
    bool ours(std::size_t member) const {
        return scene_.owners[members_[member].owner] == Kind::announcer;
    }
    View& view(std::size_t reader, std::size_t member) {
        return views_[reader * members_.size() + member];
    }
    void forget_release(std::size_t member);
    void gives_up(std::size_t member);  // It is to stay out.
    void check_missing(std::size_t reader, std::size_t member);
    void check_present(std::size_t reader, std::size_t member);
    void check_registered(std::size_t member);

    Scene const& scene_;
    std::vector<Member> const& members_;
    Timeline const& timeline_;
    Redis& redis_;
    milliseconds const lease_;
    std::vector<Life> lives_;
    std::vector<View> views_;
    std::vector<Time> clean_from_;  // By process.
    Time lost_at_ = Time::min();
    Figures figures_;
    std::string wrong_;
};

}  // namespace rollcall::test::fleet
