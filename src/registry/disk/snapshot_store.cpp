#include "registry/disk/snapshot_store.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <limits>
#include <map>
#include <mutex>
#include <pthread.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include "redis/event.hpp"
#include "redis/late_threads.hpp"
#include "redis/signal_block.hpp"
#include "registry/disk/snapshot_folder.hpp"
#include "registry/disk/snapshot_format.hpp"

namespace rollcall::disk {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr milliseconds last_round_limit{500};
constexpr milliseconds longest_wait_at_end{700};
constexpr milliseconds confirmed_again_within{600'000};
constexpr milliseconds clock_tolerance{2'000};
constexpr int pauses_after_failure = 6;
constexpr std::uint64_t no_revision = std::numeric_limits<std::uint64_t>::max();

}  // namespace

struct SnapshotStore::State : std::enable_shared_from_this<State> {
    State(StoreOptions given, Log logger)
        : options(std::move(given)),
          folder(options.directory, options.origin),
          log(std::move(logger)),
          confirm_again(std::clamp(options.max_age / 4, milliseconds{1}, confirmed_again_within)) {}

    struct Question {
        std::string service;
        Found found;
    };
    struct Written {
        Source::Mark mark{no_revision, {}};
        std::size_t size = 0;
    };
    enum class Round { usual, last_changes, last_ages };
    enum class Outcome { done, failed };

    static void run(std::shared_ptr<State> const& state);
    void work();
    void start();
    void keep_the_last_ones();
    bool look(Round round, Clock::time_point end = Clock::time_point::max());
    bool is_due(Source const& source, Source::Mark const& mark, Round round) const;
    Outcome save(Source const& source, Source::Mark const& mark);
    void answer(Question const& question) const;
    void warn(std::string_view kind, std::string_view text) const {
        log.write(LogLevel::warning, kind, text);
    }

    StoreOptions const options;
    SnapshotFolder const folder;
    Log const log;
    milliseconds const confirm_again;
    pid_t const owner = ::getpid();

    // The store's thread alone.
    std::map<std::string, Written, std::less<>> written;
    std::size_t total = 0;  // Bytes of them.

    std::mutex mutex;  // Guards what is below.
    std::condition_variable changed;
    std::vector<std::weak_ptr<Source const>> sources;
    std::vector<std::shared_ptr<Source const>> last_ones;  // To be saved before the end.
    std::deque<Question> questions;
    std::atomic<bool> closing = false;  // Read without it, too.
    bool ended = false;
    std::thread thread;
    redis::Event thread_ended;  // Not under the mutex.
};

void SnapshotStore::State::run(std::shared_ptr<State> const& state) {
    ::pthread_setname_np(::pthread_self(), "rollcall-disk");
    try {
        state->work();
    } catch (std::exception const& error) {
        state->warn("disk-snapshot-end", std::string{"nothing is saved any more: "} + error.what());
    }
    std::vector<std::shared_ptr<Source const>> ending;  // End without the mutex, as do these.
    std::deque<Question> unanswered;
    {
        std::lock_guard const lock{state->mutex};
        ending.swap(state->last_ones);
        unanswered.swap(state->questions);
        state->ended = true;
        state->changed.notify_all();
    }
}

void SnapshotStore::State::work() {
    auto next_look = Clock::now() + options.write_every;
    std::unique_lock lock{mutex};
    while (!closing) {
        if (!questions.empty()) {
            auto const question = std::move(questions.front());
            questions.pop_front();
            lock.unlock();
            answer(question);
            lock.lock();
        } else if (Clock::now() >= next_look) {
            lock.unlock();
            bool const well = look(Round::usual);
            next_look = Clock::now() + (well ? 1 : pauses_after_failure) * options.write_every;
            lock.lock();
        } else {
            changed.wait_until(lock, next_look);
        }
    }
    lock.unlock();
    auto const end = Clock::now() + last_round_limit;
    if (look(Round::last_changes, end)) look(Round::last_ages, end);
}

/// False when something could not be written: then nothing more is tried.
bool SnapshotStore::State::look(Round round, Clock::time_point end) {
    std::vector<std::shared_ptr<Source const>> all;
    {
        std::lock_guard const lock{mutex};
        std::erase_if(sources, [](auto const& source) { return source.expired(); });
        for (auto const& source : sources) all.push_back(source.lock());
    }
    std::erase(all, nullptr);
    std::size_t left = 0;
    for (auto const& source : all) {
        auto const mark = source->mark();
        if (round == Round::usual && closing) return true;  // The last round saves them.
        if (!mark || !is_due(*source, *mark, round)) continue;
        if (Clock::now() >= end) {
            ++left;
        } else if (save(*source, *mark) == Outcome::failed) {
            return false;
        }
    }
    if (left > 0 && round == Round::last_changes) {
        warn("disk-snapshot-late",
             std::to_string(left) + " services were not saved, as there was no time left");
    }
    return true;
}

bool SnapshotStore::State::is_due(Source const& source, Source::Mark const& mark,
                                  Round round) const {
    auto const found = written.find(source.name());
    if (found == written.end() || found->second.mark.revision != mark.revision) return true;
    if (round == Round::last_changes) return false;
    auto const since = mark.confirmed_at - found->second.mark.confirmed_at;
    return since >= (round == Round::usual ? confirm_again : options.write_every);
}

SnapshotStore::State::Outcome SnapshotStore::State::save(Source const& source,
                                                         Source::Mark const& mark) {
    try {
        auto const bytes = encode(folder.origin(), source.capture());
        auto& before = written[source.name()];
        if (total - before.size + bytes.size() > options.max_bytes) {
            warn("disk-snapshot-limit",
                 "service " + source.name() + " is not saved: " + std::to_string(bytes.size()) +
                     " bytes are too many, with a limit of " + std::to_string(options.max_bytes) +
                     " for all services");
            before.mark = mark;
            return Outcome::done;
        }
        auto const replaced = folder.replace(source.name(), bytes);
        if (replaced.has_error()) {
            warn("disk-snapshot-write", "services are not saved: " + replaced.error().detail() +
                                            ": " + replaced.error().code().message());
            return Outcome::failed;
        }
        if (*replaced == SnapshotFolder::Replaced::busy) return Outcome::done;  // Next time.
        before.mark = mark;
        if (*replaced == SnapshotFolder::Replaced::outdated) return Outcome::done;
        total += bytes.size() - before.size;
        before.size = bytes.size();
    } catch (std::exception const& error) {
        warn("disk-snapshot-write", std::string{"services are not saved: "} + error.what());
        return Outcome::failed;
    }
    return Outcome::done;
}

void SnapshotStore::State::answer(Question const& question) const {
    try {
        auto const bytes = folder.read(question.service, options.max_bytes);
        auto const ignored = [&](std::string_view why) {
            warn("disk-snapshot-ignored", "the snapshot of " + question.service +
                                              " on disk is not used: " + std::string{why});
        };
        if (bytes.has_error()) {
            auto const& why = bytes.error();
            bool const is_ours = why.code() == std::errc::invalid_argument;
            return ignored(is_ours ? why.detail() : why.detail() + ": " + why.code().message());
        }
        if (!bytes->has_value()) return;
        auto decoded = decode(**bytes, folder.origin(), question.service);
        if (!decoded.saved) {
            return ignored(folder.file_of(question.service).native() + " " + decoded.why);
        }
        auto& saved = *decoded.saved;
        auto const now = std::chrono::system_clock::now();
        if (saved.confirmed_at > now + clock_tolerance) {
            warn("disk-snapshot-clock", "the snapshot of " + question.service +
                                            " on disk is of a time that lies ahead: its age is "
                                            "counted from now on");
        }
        saved.confirmed_at = std::min(saved.confirmed_at, now);
        if (now - saved.confirmed_at > options.max_age) return ignored("it is too old");
        if (!saved.instances.empty()) question.found(std::move(saved));
    } catch (std::exception const& error) {
        warn("disk-snapshot-ignored",
             "the snapshot of " + question.service + " on disk could not be read: " + error.what());
    }
}

/// Under the mutex.
void SnapshotStore::State::start() {
    if (thread.joinable() || ended) return;
    try {
        redis::expect_late_threads();
        redis::SignalBlock const block;
        thread = std::thread{[self = shared_from_this()] {
            run(self);
            self->thread_ended.set();
        }};
    } catch (std::exception const& error) {
        warn("disk-snapshot-thread", std::string{"nothing is saved to disk: "} + error.what());
    }
}

/// Their owner goes: what is not saved yet must not go with it. Under the mutex.
void SnapshotStore::State::keep_the_last_ones() {
    for (auto const& source : sources) {
        if (auto kept = source.lock()) last_ones.push_back(std::move(kept));
    }
}

SnapshotStore::SnapshotStore(StoreOptions options, Log log)
    : state_(std::make_shared<State>(std::move(options), std::move(log))) {}

SnapshotStore::~SnapshotStore() {
    if (::getpid() != state_->owner) {
        // The thread is the parent's, and it may have held the mutex.
        static_cast<void>(std::make_unique<std::shared_ptr<State>>(std::move(state_)).release());
        return;
    }
    close(false);
}

void SnapshotStore::add(std::weak_ptr<Source const> source) {
    if (::getpid() != state_->owner) return;
    std::lock_guard const lock{state_->mutex};
    if (state_->closing) return;
    state_->sources.push_back(std::move(source));
    state_->start();
}

void SnapshotStore::read(std::string service, Found found) {
    if (::getpid() != state_->owner) return;
    std::lock_guard const lock{state_->mutex};
    if (state_->closing) return;
    state_->questions.push_back({std::move(service), std::move(found)});
    state_->start();
    state_->changed.notify_all();
}

void SnapshotStore::close(bool waits) noexcept try {
    if (::getpid() != state_->owner) return;
    std::thread thread;
    std::unique_lock lock{state_->mutex};
    if (!state_->closing.exchange(true)) state_->keep_the_last_ones();
    state_->changed.notify_all();
    thread = std::move(state_->thread);
    if (!thread.joinable()) return;
    waits = waits && thread.get_id() != std::this_thread::get_id();
    bool const ended = waits && state_->changed.wait_for(lock, longest_wait_at_end,
                                                         [this] { return state_->ended; });
    lock.unlock();
    if (ended) {
        thread.join();
    } else {
        redis::leave_behind(std::move(thread), {state_, &state_->thread_ended},
                            waits ? milliseconds::zero() : longest_wait_at_end);
    }
} catch (std::exception const& error) {
    state_->warn("disk-snapshot-end", std::string{"not everything was saved: "} + error.what());
}

}  // namespace rollcall::disk
