#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace rollcall::chaos {

using Time = std::chrono::steady_clock::time_point;
using Seconds = std::chrono::duration<double>;

/// What a run found: see "Truth under faults" in docs/robustness.md.
struct Figures {
    Seconds hidden_max{0};
    Seconds lingering_max{0};
    /// As hidden, but of instances whose Hash was deleted by hand where nothing is promised then.
    Seconds unpromised_max{0};
    std::size_t duplicates = 0;
    std::size_t reader_errors = 0;
    std::size_t resurrected = 0;
    std::size_t samples = 0;
    std::string hidden_example = {};
    std::string lingering_example = {};
    std::string unpromised_example = {};
};

/// An instance as a reader shows it.
struct Shown {
    std::string id = {};
    bool suspect = false;
};

/// What is true of all instances, as their owners say, and how far readers are from it. Pure: all
/// times are arguments.
class Truth {
public:
    explicit Truth(std::chrono::milliseconds lease) : lease_(lease) {}

    // Of owners.
    /// Its owner is about to register it, again perhaps after it was released.
    void entering(std::string const& service, std::string const& id);
    void acknowledged(std::string const& service, std::string const& id, Time at);
    /// Its lease ran out while its owner could not reach Redis; it will register it again, or not.
    void lapsed(std::string const& service, std::string const& id);
    void leaving(std::string const& service, std::string const& id);  ///< Its owner wants it gone.
    void released(std::string const& service, std::string const& id, Time at);
    /// Its owner does not live, or will not register it again, from then on.
    void abandoned(std::string const& service, std::string const& id, Time at);

    // Of Redis.
    /// Its lease, as it is stored, ends then: of the last heartbeat that was carried out.
    void leased(std::string const& service, std::string const& id, Time until);
    /// Its Hash was deleted by hand, and nothing is promised until it is registered again.
    void unpromised(std::string const& service, std::string const& id);

    // Of the surroundings.
    /// What was acknowledged shortly after may have been stored before.
    void data_lost(Time at) { lost_at_ = at + in_flight; }
    /// Neither readers nor owners can be expected to reach Redis before.
    void clean_from(Time at) { clean_from_ = std::max(clean_from_, at); }

    /// What `reader` shows of `service` now.
    void sample(std::size_t reader, std::string const& service, std::vector<Shown> const& shown,
                Time now);
    void reader_opened(std::size_t reader) { views_.erase(reader); }
    void reader_failed() { ++figures_.reader_errors; }

    Figures const& figures() const noexcept { return figures_; }
    std::size_t healthy() const;  ///< How many are to be seen.
    bool is_healthy(std::string const& service, std::string const& id) const;
    bool is_released(std::string const& service, std::string const& id) const;

private:
    struct Life {
        std::optional<Time> acknowledged = {};
        std::optional<Time> released = {};
        std::optional<Time> abandoned = {};
        std::optional<Time> leased_until = {};
        bool leaving = false;
        bool unpromised = false;
        bool healthy() const { return acknowledged && !leaving && !abandoned; }
    };
    /// What one reader has seen of one instance.
    struct View {
        bool had = false;
        bool missed_since_release = false;
        std::optional<Time> suspect_since = {};
    };
    using Lives = std::map<std::string, Life>;

    Life const* find(std::string const& service, std::string const& id) const;

    void judge_missing(std::string const& where, Life const& life, View& view, Time now);
    void judge_present(std::string const& where, Life const& life, View& view, Time now);

    static constexpr std::chrono::milliseconds in_flight{500};  ///< An acknowledgement, at most.

    std::chrono::milliseconds const lease_;
    std::map<std::string, Lives> services_;
    std::map<std::size_t, std::map<std::string, View>> views_;  // By reader, then service/id.
    Time lost_at_ = Time::min();
    Time clean_from_ = Time::min();
    Figures figures_;
};

}  // namespace rollcall::chaos
