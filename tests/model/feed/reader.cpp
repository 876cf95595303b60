#include "model/feed/reader.hpp"

#include <string>
#include <utility>
#include <vector>

#include "model/feed/fingerprint.hpp"

namespace rollcall {

/// Sees what of a feed decides its future.
struct ServiceFeedInspector {
    template <typename News>
    static void add(test::feed::Fingerprint& to, News const& news) {
        to.add(news.size());
        for (auto const& [id, what] : news) {
            to.add(id);
            to.add(static_cast<std::uint64_t>(what));
        }
    }

    static void add(test::feed::Fingerprint& to, FeedRead const& read) {
        to.add(std::uint64_t{read.everything} | std::uint64_t{read.descriptions} << 1U |
               std::uint64_t{read.proof} << 2U);
        for (auto const& id : read.ids) to.add(id);
    }

    static void add(test::feed::Fingerprint& to, ServiceFeed const& feed) {
        to.add(std::uint64_t{feed.connected_} | std::uint64_t{feed.resync_} << 1U |
               std::uint64_t{feed.doubted_} << 2U | std::uint64_t{feed.blind_} << 3U |
               std::uint64_t{feed.loaded_} << 4U);
        to.add(feed.generation_);
        to.add(feed.instances_.size());
        for (auto const& [id, known] : feed.instances_) {
            to.add(id);
            to.add(static_cast<std::uint64_t>(known.instance->port));
            to.add(known.state.lease_until);
            to.add(std::uint64_t{known.state.suspect} | std::uint64_t{known.evicted} << 1U |
                   std::uint64_t{known.missed} << 2U);
            to.add(known.generation);
            to.add(known.grace_until);
        }
        to.add(std::uint64_t{feed.flight_.has_value()});
        if (feed.flight_) {
            add(to, feed.flight_->read);
            to.add(std::uint64_t{feed.flight_->disturbed});
            to.add_past(feed.flight_->asked_at);
            add(to, feed.flight_->news);
        }
        add(to, feed.news_);
        to.add(feed.questionable_.size());
        for (auto const& id : feed.questionable_) to.add(id);
        to.add(feed.rotated_to_);
        for (auto const time : {feed.blind_at_, feed.resync_not_before_, feed.retry_at_,
                                feed.reconcile_at_, feed.due_at_}) {
            to.add(time);
        }
    }

    static void rewind_random(ServiceFeed& feed) { feed.random_.seed(feed.options_.seed); }
};

namespace test::feed {

void Reader::connecting(Time now) {
    if (defect_ == Defect::read_too_early) feed_.confirmed(now);
}

void Reader::confirmed(Time now) {
    if (defect_ != Defect::read_too_early) feed_.confirmed(now);
}

std::optional<FeedRead> Reader::next_read(Time now) {
    auto read = feed_.next_read(now);
    bool const again = read && read->everything && read->descriptions && feed_.loaded();
    if (!again || defect_ != Defect::no_resync) return read;
    feed_.answer(nothing_new(read->number), now);
    return feed_.next_read(now);
}

/// Of a read that was not made.
FeedAnswer Reader::nothing_new(std::uint64_t number) const {
    FeedAnswer answer;
    answer.number = number;
    answer.complete = answer.path_clean = true;
    answer.generation = 1;
    for (auto const& [id, known] : feed_.instances()) {
        answer.sightings.push_back({id, Presence::alive, known.instance, known.state});
    }
    return answer;
}

FeedOutcome Reader::answer(FeedAnswer answer, Time now) {
    if (defect_ == Defect::any_generation && answer.complete) answer.generation = 1;
    if (defect_ == Defect::lease_in_content) {
        for (auto& sighting : answer.sightings) {
            if (!sighting.instance || !sighting.state.lease_until) continue;
            auto described = *sighting.instance;
            described.metadata["lease"] =
                std::to_string(sighting.state.lease_until->time_since_epoch().count());
            sighting.instance = std::make_shared<ServiceInstance>(std::move(described));
        }
    }
    auto outcome = feed_.answer(std::move(answer), now);
    if (defect_ == Defect::remove_then_add) {
        std::vector<FeedChange> changes;
        for (auto& change : outcome.changes) {
            if (change.kind == ChangeKind::updated) {
                changes.push_back({ChangeKind::removed,
                                   RemovalReason::deregistered,
                                   change.id,
                                   change.previous,
                                   {}});
                changes.push_back(
                    {ChangeKind::added, RemovalReason::none, change.id, change.instance, {}});
            } else {
                changes.push_back(std::move(change));
            }
        }
        outcome.changes = std::move(changes);
    }
    return outcome;
}

void Reader::add_to(Fingerprint& fingerprint) const {
    ServiceFeedInspector::add(fingerprint, feed_);
}

void Reader::rewind_random() { ServiceFeedInspector::rewind_random(feed_); }

}  // namespace test::feed
}  // namespace rollcall
