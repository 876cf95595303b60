#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "registry/live/sighting.hpp"

#include "rollcall/change.hpp"

namespace rollcall {

struct FeedOptions {
    /// What an instance is given to come back after Redis may have lost it: one lease of the
    /// layout.
    std::chrono::milliseconds lease{90'000};
    std::chrono::milliseconds reconcile_every{60'000};  ///< Less up to a fifth, at random.
    /// Within which time the description of every known instance is read again.
    std::chrono::milliseconds reread_within{600'000};
    /// How often everything is read while no messages come, be it that nobody may subscribe.
    std::chrono::milliseconds blind_period{2'000};
    /// Between two complete reads because of doubt.
    std::chrono::milliseconds doubt_pause{500};
    std::chrono::milliseconds first_retry{100};
    std::chrono::milliseconds last_retry{1'000};
    std::size_t most_ids = 1'000;  ///< In one read by id. More news than that: a complete read.
    std::uint32_t seed = 1;
};

/// One change of a service, in the order in which it took effect.
struct FeedChange {
    ChangeKind kind = ChangeKind::added;
    RemovalReason reason = RemovalReason::none;
    std::string id = {};
    std::shared_ptr<ServiceInstance const> instance = {};
    std::shared_ptr<ServiceInstance const> previous = {};  ///< Of an updated one.
};

/// What an answer changed.
struct FeedOutcome {
    std::vector<FeedChange> changes = {};
    std::vector<std::string> renewed = {};  ///< Ids of which only the state changed.
    /// Listed ids without a Hash whose lease has ended: CoSky's readers clean them up.
    std::vector<std::string> hollow = {};
};

/// Decides what a reader of one service believes: what to read when, and what follows from the
/// answers. It does no I/O and has no clock; every time is an argument.
///
/// A subscription is followed by a complete read, a message by a read of the instance it names, a
/// lease that seems to end by a question. Nothing leaves without proof, or an explicit
/// deregistration, or the end of its grace.
///
/// Thread safety: one thread at a time.
class ServiceFeed {
public:
    using Time = std::chrono::steady_clock::time_point;

    struct Known {
        std::shared_ptr<ServiceInstance const> instance;
        InstanceState state;
        /// That last confirmed it; none: no read of a whole generation has.
        std::optional<GenerationNumber> generation;
        std::optional<Time> grace_until;  ///< Of a suspect.
        /// Its Hash went before its time, or became something else: that it is gone now proves
        /// nothing.
        bool evicted = false;
        bool missed = false;  ///< Not there, or not to be read, when its description was asked for.
    };
    using Instances = std::map<std::string, Known, std::less<>>;

    ServiceFeed(FeedOptions options, Time now);

    /// The server confirmed the subscription, for the first time or again.
    void confirmed(Time now);
    /// No messages come any more.
    void lost(Time now);
    /// Nobody may listen: what has not been read yet is read without waiting for messages.
    void refused(Time now);
    /// Something may have been missed: an undecodable message, a full queue, a changed epoch.
    void doubt(Time now);
    void message(std::string_view id, News news, Time now);

    /// The read to make now, if any. One at a time: the next comes after the answer.
    std::optional<FeedRead> next_read(Time now);
    FeedOutcome answer(FeedAnswer answer, Time now);
    /// When to ask for the next read, if nothing happens before.
    Time wake_at() const;

    Instances const& instances() const noexcept { return instances_; }
    bool loaded() const noexcept { return loaded_; }  ///< A complete read has been answered.
    /// Messages come, and nothing that may have been missed is still to be read.
    bool live() const noexcept { return connected_ && !resync_; }
    /// When a read last confirmed the content; none before the first.
    std::optional<Time> confirmed_at() const noexcept { return confirmed_at_; }

private:
    friend struct ServiceFeedInspector;  // Of the model test, to tell states apart.

    using NewsById = std::map<std::string, News, std::less<>>;

    struct Flight {
        FeedRead read;
        Time asked_at = {};
        bool disturbed = false;  // A confirmation, a loss or doubt since it was asked.
        NewsById news = {};      // What made us ask.
    };

    /// An answer, and what it can prove.
    struct Evidence {
        FeedAnswer& answer;
        Flight const& flight;
        bool undisturbed = false;  // Nothing was missed from before the read until behind it.
        std::optional<GenerationNumber> confers;
        Time now;
    };

    static void outdate(NewsById& news);
    void disturb();
    bool resync_due(Time now) const;
    bool may_question() const { return blind_ || (connected_ && !resync_); }
    void collect_due(Time now);
    FeedRead whole_read(Time now);
    FeedRead news_read();
    FeedRead question_read();
    void retry(Flight&& flight, Time now);

    Evidence weigh(FeedAnswer& answer, Flight const& flight, Time now);
    void settle_whole(Evidence const& evidence);
    void look_for_unseen(Evidence const& evidence, FeedOutcome& outcome);
    void see(Sighting& sighting, Evidence const& evidence, FeedOutcome& outcome);
    void see_alive(Sighting& sighting, Evidence const& evidence, FeedOutcome& outcome);
    void see_unreadable(Sighting const& sighting, Evidence const& evidence, FeedOutcome& outcome);
    void see_missing(Instances::iterator known, Sighting const& sighting, Evidence const& evidence,
                     FeedOutcome& outcome);
    static std::optional<RemovalReason> proven(Known const& known, Presence presence,
                                               bool lease_over, Evidence const& evidence);
    void remove(Instances::iterator known, RemovalReason reason, FeedOutcome& outcome);
    void suspect(Instances::iterator known, Time now, FeedOutcome& outcome);
    void plan_reconciliation(Time now);
    void rotate();
    void note_deadline(Known const& known, Time now);

    FeedOptions options_;
    std::minstd_rand random_;
    Instances instances_;

    bool connected_ = false;
    bool resync_ = true;    // A complete read of one generation is needed.
    bool doubted_ = false;  // That is why.
    bool blind_ = false;    // Everything is read now and then, as no messages come.
    bool loaded_ = false;
    std::optional<GenerationNumber> generation_;  // Of the last such read.
    std::optional<Time> confirmed_at_;

    std::optional<Flight> flight_;
    std::uint64_t reads_ = 0;
    NewsById news_;                                    // Ids to read again.
    std::set<std::string, std::less<>> questionable_;  // Ids whose absence is to be proven.
    std::string rotated_to_;

    Time blind_at_;                         // The next complete read without messages.
    Time resync_not_before_ = Time::min();  // Because of doubt.
    Time retry_at_ = Time::min();           // After a failed read.
    std::chrono::milliseconds retry_pause_;
    Time reconcile_at_ = Time::max();
    Time due_at_ = Time::max();  // No lease and no grace ends before.
};

}  // namespace rollcall
