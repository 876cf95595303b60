#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "registry/announce/drain.hpp"
#include "registry/live/sighting.hpp"

#include "rollcall/announcement.hpp"
#include "rollcall/instance.hpp"

namespace rollcall {

/// The timetable of what keeps instances registered.
struct AnnouncerTimes {
    std::chrono::milliseconds period{10'000};  ///< Between two rounds; less up to a tenth.
    std::chrono::milliseconds lease{90'000};
    std::chrono::milliseconds reassert_within{500};  ///< After a connection or another generation.
    std::chrono::milliseconds first_retry{200};
    std::chrono::milliseconds last_retry{5'000};
    /// What an operator wants to get no traffic is deregistered meanwhile; else it is disabled.
    bool deregisters_drained = false;
    std::uint32_t seed = 1;
};

/// Decides when what is announced is registered, renewed and deregistered, so that Redis has what
/// this process wants it to have. It does no I/O and has no clock.
///
/// What is released never comes back: a deregistration waits for the calls about its instance that
/// are on their way, and nothing follows it. It is tried until the lease has ended what it is
/// about, and then no more: what is stored by then is somebody else's.
///
/// What is adopted is somebody else's all the time: it is asked for and renewed in each round,
/// there or not, and no call is ever about it alone.
///
/// Thread safety: one thread at a time.
class AnnouncerMachine {
public:
    using Time = std::chrono::steady_clock::time_point;
    using Key = std::uint64_t;  ///< Of an announcement; never used again.

    /// A call to make. `register_instance` and `update` are about the instance as it is to be
    /// stored at that moment, `heartbeat` about all that are registered; it may be none, when only
    /// the marks of operators are to be read.
    struct Call {
        enum class Kind { heartbeat, register_instance, update, deregister } kind = {};
        std::uint64_t number = 0;
        std::vector<Key> keys = {};
        /// Of an update: all that was ever changed is written, as the data may be an older copy.
        bool again = false;
    };

    enum class Beat {
        alive,
        gone,        ///< Not stored any more.
        unlisted,    ///< Stored, but its service is not listed: to be registered again.
        failed,      ///< Nobody knows.
        refused,     ///< Nor will it work soon: somebody has to change something in Redis.
        persistent,  ///< Of an adopted one: stored, with no lease to renew.
    };

    enum class Result {
        done,
        gone,       ///< Of an update: there was nothing to update.
        transient,  ///< Failed, may work soon; it may have been carried out.
        refused,    ///< Failed, and will fail again unless somebody changes something.
        withdrawn,  ///< Not made.
    };

    struct Notice {
        Key key = 0;
        AnnouncementEvent event = {};
    };
    using Notices = std::vector<Notice>;

    AnnouncerMachine(AnnouncerTimes times, Time now);

    /// `stay_out`: when somebody removed it, it is not registered again. `after`: a released one of
    /// the same id; nothing is done before that is gone.
    Key add(ServiceInstance instance, bool stay_out, Key after = 0);
    /// Only renewed from now on, `instance` names it. The next round comes at once, unless there
    /// was one just now.
    Key adopt(ServiceInstance instance, Time now, Key after = 0);
    /// The instance as it is wanted from now on; its id stays.
    void change(Key key, ServiceInstance instance);
    /// Gone at once if it never was on its way to Redis, or is out.
    Notices release(Key key);
    /// What is next about it is due now, though it failed just before.
    void hurry(Key key);
    /// What an operator wants of its traffic. One that began and ended since this was told last is
    /// told of, too, and what it changed is changed back. To be told before what is found gone.
    Notices mark(Key key, Drain const& drain, Time now);
    /// That drain is over, and what it changed will be overwritten by a registration.
    void mark_as_past(Key key, std::uint64_t number);

    /// There is a connection, the first or another one.
    void connected(Time now);
    /// What the data is now; none: it is not known. Another one than before calls for a round, and
    /// behind that for an update of all that was ever changed.
    void generation(std::optional<GenerationNumber> number, Time now);

    /// All calls to make now.
    std::vector<Call> next_calls(Time now);
    /// When to ask for the next calls, if nothing happens before.
    Time wake_at() const;

    /// One beat for each key of the call, in order. The generation is to be told before, read after
    /// the round if any is gone.
    Notices answer_round(std::uint64_t number, std::vector<Beat> const& beats, Time now);
    Notices answer_call(std::uint64_t number, Result result, Time now);

    ServiceInstance const* find(Key key) const;  ///< As it is wanted; null once it is released.
    /// As it is to be stored now; none if it is not to be.
    std::optional<ServiceInstance> to_store(Key key) const;
    bool registered(Key key) const;      ///< Whether Redis confirmed it at the last call.
    bool settled(Key key) const;         ///< Nothing is to be done about it but to renew it.
    std::vector<Key> announced() const;  ///< Those whose marks are to be read.
    std::size_t size() const noexcept { return entries_.size(); }
    bool idle() const noexcept { return entries_.empty() && flights_.empty(); }

private:
    struct Entry {
        ServiceInstance instance;
        bool stay_out = false;
        bool adopted = false;
        std::optional<AnnouncementEvent> told = {};     // What became of an adopted one.
        std::optional<AnnouncementEvent> trouble = {};  // Told of another, while renewals fail.
        std::uint64_t wanted = 1;                       // Revision of `instance`.
        std::uint64_t written = 0;  // That Redis has; 0: none, it is to be registered.
        bool out = false;           // Somebody removed it, and it stays out.
        bool leaving = false;
        bool drained = false;
        std::uint64_t drain = 0;           // The last one that is known.
        std::uint64_t missing_before = 0;  // Registrations of earlier revisions are undone.
        bool tried = false;                // It may be stored.
        Key after = 0;                     // What has to be gone first.
        Time tried_at = {};  // When the last call was made that may have stored or renewed it.
        bool busy = false;   // A call about it alone is on its way.
        bool told_refused = false;
        Time acknowledged_at = {};                     // When the last answered call was made.
        std::optional<GenerationNumber> generation;    // From that call to its answer.
        std::optional<GenerationNumber> described_in;  // At the last call that wrote it.
        bool perhaps_older = false;                    // It may be stored as it was before.
        Time retry_at = Time::min();
        std::chrono::milliseconds pause{0};
        std::optional<Time> due = {};  // Its place in `due_`.
        bool in_rounds = false;        // Counted in `in_rounds_`.
    };
    using Entries = std::map<Key, Entry>;

    struct Flight {
        Call call;
        Time made_at;
        std::optional<GenerationNumber> generation = {};  // Known then.
        std::uint64_t revision = 0;                       // Of the instance that it is about.
        bool tried_before = false;  // Whether that may have been stored without it.
    };

    void review(Key key, Entry& entry);
    bool away(Entry const& entry) const { return entry.drained && times_.deregisters_drained; }
    bool beats(Entry const& entry) const;
    std::optional<Call::Kind> wants(Entry const& entry) const;
    Call begin(Call::Kind kind, std::vector<Key> keys, Time now);
    void retry(Entry& entry, Time now);
    static void succeed(Entry& entry);
    void renewed(Entry& entry, Flight const& flight);
    void written(Entry& entry, Flight const& flight);
    std::optional<GenerationNumber> generation_during(Flight const& flight) const;
    void describe_again(Key key, Entry& entry);
    void fail_to_renew(Key key, Entry& entry, bool refused, Time now, Notices& notices);
    void miss(Key key, Entry& entry, bool removed, Notices& notices);
    static void tell_adopted(Key key, Entry& entry, AnnouncementEvent event, Notices& notices);
    void erase(Key key, Notices& notices);
    void deregistered(Key key, Entry& entry, Notices& notices);
    bool has_ended(Entry const& entry, Time now) const;
    void beat(Key key, Entry& entry, Beat beat, Flight const& flight, Time now, Notices& notices);
    bool cannot_have_lapsed(Entry const& entry, Time now) const;

    AnnouncerTimes times_;
    std::minstd_rand random_;
    Entries entries_;
    std::map<std::uint64_t, Flight> flights_;
    std::set<std::pair<Time, Key>> due_;  // Who wants a call of its own, and when: as `review` saw.
    std::size_t in_rounds_ = 0;           // How many want rounds, as it saw.
    std::map<Key, Key> followers_;        // Who waits for the end of one, by that one.
    bool round_on_its_way_ = false;
    Time round_at_;
    Time round_made_at_ = Time::min();          // The last one.
    std::chrono::milliseconds round_pause_{0};  // After a round that failed.
    std::optional<GenerationNumber> generation_;
    std::uint64_t last_key_ = 0;
    std::uint64_t last_call_ = 0;
};

}  // namespace rollcall
