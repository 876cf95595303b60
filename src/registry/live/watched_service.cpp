#include "registry/live/watched_service.hpp"

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <utility>

#include "registry/live/catalogue.hpp"
#include "registry/live/subscribing.hpp"
#include "registry/live/table_draft.hpp"

namespace rollcall::live {
namespace {

using std::chrono::milliseconds;

// A dead connection is found within that time: so late may anything be while all seems well.
constexpr milliseconds noticed_within{1'000};

}  // namespace

WatchedService::WatchedService(std::string name, LiveContextPtr context,
                               std::shared_ptr<Catalogue> catalogue, FeedOptions const& options)
    : context_(std::move(context)),
      catalogue_(std::move(catalogue)),
      cell_(std::make_shared<SnapshotCell>(std::move(name))),
      doubt_pause_(options.doubt_pause),
      feed_(options, Clock::now()),
      fallback_(context_->disk
                    ? std::make_shared<DiskFallback>(*core_, context_->disk, cell_->name())
                    : nullptr),
      timer_(core_->io().get_executor()) {}

bool WatchedService::wait_until_loaded(Deadline deadline) const {
    std::unique_lock lock{mutex_};
    changed_.wait_until(lock, deadline, [this] { return loaded() || ended(); });
    return loaded();
}

bool WatchedService::wait_until_readable(Deadline deadline) const {
    std::unique_lock lock{mutex_};
    changed_.wait_until(lock, deadline, [this] { return readable() || ended(); });
    return readable();
}

std::optional<milliseconds> WatchedService::age() const noexcept {
    auto const at = confirmed_at_.get();
    if (!at) return std::nullopt;
    auto const since = std::chrono::duration_cast<milliseconds>(Clock::now() - *at);
    return live() ? std::min(since, noticed_within) : since;
}

std::optional<Failure> WatchedService::failure() const {
    std::lock_guard const lock{mutex_};
    return failure_;
}

Task<void> WatchedService::run(std::shared_ptr<WatchedService> self) {
    struct Guard {
        WatchedService& service;
        ~Guard() { service.end(); }
    } const guard{*self};
    self->begin();
    co_await self->watch();
}

void WatchedService::begin() {
    if (fallback_) {
        fallback_->begin([weak = weak_from_this()](disk::SavedService const& saved) {
            if (auto const self = weak.lock()) self->show(saved);
        });
    }
    if (catalogue_) return catalogue_->join(*this);
    subscribe(*context_, *this, port_->channel_of(name()));
}

void WatchedService::end() {
    if (fallback_) fallback_->end();
    context_->tally.instances -= static_cast<std::int64_t>(table_->size);
    context_->tally.suspects -= suspects_;
    if (catalogue_) {
        catalogue_->leave(*this);
    } else {
        core_->subscriber().detach(*this);
    }
    std::lock_guard const lock{mutex_};
    ended_.store(true, std::memory_order_release);
    changed_.notify_all();
}

Task<void> WatchedService::watch() {
    for (;;) {
        pass_doubt_on();
        note_state();
        if (auto const read = feed_.next_read(Clock::now())) {
            heard_.ask(*read);
            auto answered = co_await answer(*read);
            auto const messages = heard_.end(answered.complete);
            auto const outcome = feed_.answer(std::move(answered), Clock::now());
            apply(outcome);
            tell_followers(messages, outcome);
            if (!outcome.hollow.empty()) {
                co_await port_->clean_up(name(), outcome.hollow, core_->deadline());
            }
            continue;
        }
        auto const wake_at = std::min(feed_.wake_at(), Clock::now() + std::chrono::hours{1});
        timer_.expires_at(doubtful_ ? std::min(wake_at, doubt_not_before_) : wake_at);
        co_await timer_.async_wait(asio::as_tuple(use_task));
        auto const state = co_await asio::this_coro::cancellation_state;
        if (state.cancelled() != asio::cancellation_type::none) co_return;
    }
}

/// Now and then: between two doubts there must be time to prove something.
void WatchedService::pass_doubt_on() {
    auto const now = Clock::now();
    if (!doubtful_ || now < doubt_not_before_) return;
    doubtful_ = false;
    doubt_not_before_ = now + doubt_pause_;
    feed_.doubt(now);
}

Task<FeedAnswer> WatchedService::answer(FeedRead const& read) {
    FeedAnswer result;
    result.number = read.number;
    std::optional<ReadTurns::Turn> turn;
    if (read.everything) {
        auto taken = co_await context_->turns.take(table_->size);
        if (!taken) co_return result;
        turn.emplace(*std::move(taken));
    }
    if (read.everything && read.descriptions) ++context_->tally.resyncs;
    GenerationRead before;
    if (read.proof) {
        auto asked = co_await context_->evidence.generation();
        if (asked.has_error()) {
            note_failure(asked.error());
            co_return result;
        }
        before = *std::move(asked);
    }
    auto seen = co_await port_->look(name(), read, core_->deadline());
    if (seen.has_error()) {
        note_failure(seen.error());
        co_return result;
    }
    result.sightings = *std::move(seen);
    tell_unreadable(result.sightings);
    if (read.proof) {
        auto const after = co_await context_->evidence.generation();
        if (after.has_error()) {
            note_failure(after.error());
            co_return result;
        }
        result.generation = context_->evidence.number_of(before, *after);
        auto const pong = co_await context_->evidence.all_messages_arrived();
        result.path_clean = pong.has_value() && *pong;
    }
    result.complete = true;
    note_failure(std::nullopt);
    co_return result;
}

void WatchedService::tell_unreadable(std::vector<Sighting> const& sightings) const {
    for (auto const& each : sightings) {
        if (each.presence != Presence::unreadable) continue;
        core_->log().write(LogLevel::warning, "unreadable instance",
                           each.id + " of " + name() + " cannot be read");
    }
}

void WatchedService::apply(FeedOutcome const& outcome) {
    if (!from_disk_) {
        if (!outcome.changes.empty() || !outcome.renewed.empty()) publish(outcome);
    } else if (feed_.loaded()) {
        auto const before = *std::exchange(from_disk_, std::nullopt);
        publish(before.replaced_by(feed_.instances()));
    }
    if (!feed_.loaded() || loaded()) return;
    if (fallback_) fallback_->end();
    note_state();  // Who finds it loaded finds an age, too.
    note_readable(true);
}

void WatchedService::note_readable(bool loaded) {
    std::lock_guard const lock{mutex_};
    if (loaded) loaded_.store(true, std::memory_order_release);
    readable_.store(true, std::memory_order_release);
    changed_.notify_all();
}

/// Not once Redis has said anything.
void WatchedService::show(disk::SavedService const& saved) {
    if (feed_.loaded() || !feed_.instances().empty() || from_disk_) return;
    auto const& shown = from_disk_.emplace(saved);
    auto const size = static_cast<std::ptrdiff_t>(shown.table()->size);
    table_ = shown.table();
    cell_->publish(table_);
    context_->tally.instances += size;
    context_->tally.suspects += size;
    suspects_ = size;
    confirmed_at_.set(shown.confirmed_at());
    core_->log().write(LogLevel::info, "disk-snapshot-used",
                       "service " + name() + " is shown as it was on disk, as Redis is away");
    note_readable(false);
    for (auto const& listener : listeners_) listener->tell(shown.present(), cell_->snapshot());
}

std::optional<disk::Source::Mark> WatchedService::mark() const {
    auto const since = age();  // First: the content may be later, not earlier.
    if (!loaded() || !since) return std::nullopt;
    return Mark{cell_->snapshot().revision(), Clock::now() - *since};
}

disk::SavedService WatchedService::capture() const {
    auto const since = age().value_or(milliseconds{0});
    return saved(name(), cell_->snapshot(), since);
}

void WatchedService::publish(FeedOutcome const& outcome) {
    auto const& known = feed_.instances();
    for (auto const& id : outcome.renewed) {
        auto const* const record = table_->find(id);
        auto const found = known.find(id);
        if (record && found != known.end()) record->vitals->set(found->second.state);
    }
    if (outcome.changes.empty()) return;
    std::ptrdiff_t suspects = 0;
    auto const size_before = table_->size;
    TableDraft draft{*table_};
    for (auto const& change : outcome.changes) {
        auto const found = known.find(change.id);
        auto const* const before = draft.find(change.id);
        if (before && before->vitals->suspect) --suspects;
        if (found == known.end()) {
            draft.erase(change.id);
            continue;
        }
        if (found->second.state.suspect) ++suspects;
        auto const vitals = before ? before->vitals : std::make_shared<Vitals>();
        if (!before && loaded()) vitals->appeared_at.set(Clock::now());
        vitals->set(found->second.state);
        draft.put(make_record(found->second.instance, vitals));
    }
    auto const replaced = std::exchange(table_, std::move(draft).finish());
    for (auto const& plan : plans_.in_use()) table_->prepare_candidates(plan, *replaced);
    cell_->publish(table_);
    count(outcome, size_before, suspects);
    auto const now = cell_->snapshot();
    for (auto const& listener : listeners_) listener->tell(outcome.changes, now);
}

void WatchedService::count(FeedOutcome const& outcome, std::size_t before,
                           std::ptrdiff_t suspects) {
    auto& tally = context_->tally;
    tally.changes += outcome.changes.size();
    tally.instances += static_cast<std::int64_t>(table_->size) - static_cast<std::int64_t>(before);
    tally.suspects += suspects;
    suspects_ += suspects;
}

/// What answers the first load is told as what is there at the beginning.
void WatchedService::tell_followers(std::vector<HeardMessage> const& messages,
                                    FeedOutcome const& outcome) {
    if (followers_.empty() || !feed_.loaded()) return;
    auto const now = cell_->snapshot();
    for (auto& [follower, begun] : followers_) {
        if (!std::exchange(begun, true)) {
            follower->begin(now);
        } else if (!messages.empty() || !outcome.changes.empty()) {
            follower->settle(messages, outcome.changes, now);
        }
    }
}

void WatchedService::note_state() {
    bool const was_live = live_.exchange(feed_.live(), std::memory_order_relaxed);
    auto at = feed_.confirmed_at();
    if (at && was_live) at = std::max(*at, Clock::now() - noticed_within);
    // What single reads confirm says little of what is still shown from disk.
    if (!at || !feed_.loaded()) return;
    confirmed_at_.set(std::max(*at, confirmed_at_.get().value_or(*at)));
}

void WatchedService::note_failure(std::optional<Failure> failure) {
    if (failure && failure->code() != errc::cancelled) {
        ++context_->tally.failed_reads;
        core_->log().write(LogLevel::warning, "watch",
                           "service " + name() + " could not be read: " + failure->detail());
        if (fallback_) fallback_->read_failed(*failure);
    }
    std::lock_guard const lock{mutex_};
    failure_ = std::move(failure);
}

std::vector<FeedChange> WatchedService::present() const {
    if (from_disk_) return from_disk_->present();
    std::vector<FeedChange> all;
    for (auto const& [id, known] : feed_.instances()) {
        all.push_back({ChangeKind::current, RemovalReason::none, id, known.instance, {}});
    }
    return all;
}

void WatchedService::add_listener(std::shared_ptr<Listener> listener) {
    asio::post(core_->io(), [self = shared_from_this(), listener = std::move(listener)] {
        auto const present = self->present();
        self->listeners_.push_back(listener);
        listener->tell(present, self->cell_->snapshot());
    });
}

void WatchedService::remove_listener(std::shared_ptr<Listener> listener) {
    asio::post(core_->io(), [self = shared_from_this(), listener = std::move(listener)] {
        std::erase(self->listeners_, listener);
    });
}

void WatchedService::add_follower(std::shared_ptr<Follower> follower) {
    asio::post(core_->io(), [self = shared_from_this(), follower = std::move(follower)] {
        bool const loaded = self->feed_.loaded();
        if (loaded) follower->begin(self->cell_->snapshot());
        self->followers_.push_back({follower, loaded});
    });
}

void WatchedService::remove_follower(std::shared_ptr<Follower> follower) {
    asio::post(core_->io(), [self = shared_from_this(), follower = std::move(follower)] {
        std::erase_if(self->followers_,
                      [&](Following const& one) { return one.follower == follower; });
        if (self->followers_.empty()) self->heard_ = {};
    });
}

void WatchedService::confirmed(redis::Topic const&) {
    feed_.confirmed(Clock::now());
    wake();
}

void WatchedService::message(redis::Message const& message) {
    ++context_->tally.messages;
    auto said = port_->read_message(name(), message.channel, message.payload);
    if (!said) return;
    if (said->id.empty() || !said->readable) {
        core_->log().write(LogLevel::warning, "undecodable",
                           "a message on " + std::string{message.channel} + " could not be read");
        ++context_->tally.unreadable;
    }
    if (said->id.empty()) {
        doubtful_ = true;
    } else {
        feed_.message(said->id, said->news, Clock::now());
        if (said->event && !followers_.empty()) {
            heard_.add({std::move(said->id), std::move(said->event)}, message.payload.size());
        }
    }
    wake();
}

void WatchedService::unreadable(redis::Topic const&, std::string_view channel) {
    auto const concerned = port_->service_of(channel);
    if (concerned && *concerned != name()) return;
    core_->log().write(LogLevel::warning, "undecodable",
                       "a message on " + std::string{channel} + " was too large or no text");
    ++context_->tally.unreadable;
    doubtful_ = true;
    wake();
}

/// A right to all services of a namespace is one to subscribe to that very pattern, and to none
/// within it.
void WatchedService::refused(redis::Topic const& topic, Failure const& why) {
    auto const all = port_->channel_of_all();
    redis::Topic const wider{all.name, all.pattern};
    if (topic.is_pattern && why.code() == errc::access_denied && topic != wider) {
        auto& subscriber = core_->subscriber();
        subscriber.unsubscribe(*this, redis::Topic{topic});  // Which ends with the subscription.
        if (subscriber.subscribe(*this, wider)) return;
    }
    core_->log().write(
        LogLevel::warning, "subscribe-refused",
        "changes of " + name() + " are noticed late, as Redis lets nobody listen: " + why.detail());
    feed_.refused(Clock::now());
    wake();
}

void WatchedService::invalidated(std::string_view) {
    feed_.doubt(Clock::now());
    wake();
}

void WatchedService::lost(std::string_view) {
    feed_.lost(Clock::now());
    wake();
}

}  // namespace rollcall::live
