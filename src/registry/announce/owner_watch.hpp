#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <vector>

#include "registry/announce/announcer_machine.hpp"

namespace rollcall::announce {

/// Finds out that another process renews the lease of an instance, from how long the lease is seen
/// to run behind one round of ours and before the next: nothing of ours changes it in between. Seen
/// in two rounds running it is another owner, and no leap of Redis' clock. Does no I/O.
class OwnerWatch {
public:
    using Key = AnnouncerMachine::Key;
    using Time = AnnouncerMachine::Time;

    /// Until when the lease runs, read behind our renewal; what was read is at most `took` too
    /// early.
    void note(Key key, Time lease_until, std::chrono::milliseconds took);
    /// Until when it runs before the next. Whether another owner is to be told of now: once until a
    /// look finds none.
    bool compare(Key key, Time lease_until);
    /// Its lease was written, or it is gone.
    void forget(Key key) { noted_.erase(key); }
    void forget_all() { noted_.clear(); }  ///< What was not compared will be renewed now.
    void remove(Key key);

    /// Those whose lease is noted.
    std::vector<Key> noted() const;
    /// Those to look at behind this round, whether or not it is the turn of all.
    std::vector<Key> suspected() const;

private:
    struct Suspicion {
        bool told = false;
    };

    std::map<Key, Time> noted_;  // The latest end that what was read allows.
    std::map<Key, Suspicion> suspicions_;
};

}  // namespace rollcall::announce
