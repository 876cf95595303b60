// Everything at once: a writer without pause, readers, threads that live for one read, snapshots
// that pass from thread to thread, reads from thread-local destructors, cells that come and go.
// Worth most under the sanitizers. ROLLCALL_STRESS_SECONDS lengthens it.

#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <deque>
#include <functional>
#include <gtest/gtest.h>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "registry/live/name_index.hpp"
#include "registry/live/snapshot_cell.hpp"
#include "unit/registry/live/records.hpp"

namespace rollcall::live {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t services = 4;
constexpr std::size_t instances = 5;

std::string name_of(std::size_t service) { return "service-" + std::to_string(service); }

std::chrono::duration<double> duration() {
    auto const* const text = std::getenv("ROLLCALL_STRESS_SECONDS");
    return std::chrono::duration<double>{text == nullptr ? 1.0 : std::strtod(text, nullptr)};
}

/// A few snapshots that anybody puts in and anybody takes out.
class Exchange {
public:
    /// Gives the oldest for `snapshot` when it is full.
    std::optional<Snapshot> swap(Snapshot snapshot) {
        std::lock_guard const lock{mutex_};
        waiting_.push_back(std::move(snapshot));
        if (waiting_.size() <= 16) return std::nullopt;
        auto oldest = std::move(waiting_.front());
        waiting_.pop_front();
        return oldest;
    }

private:
    std::mutex mutex_;
    std::deque<Snapshot> waiting_;
};

class Stress {
public:
    Stress() {
        for (std::size_t i = 0; i < services; ++i) {
            fixed_.push_back(std::make_shared<SnapshotCell>(name_of(i)));
            fixed_.back()->publish(table(i, 0));
        }
        index_.add(fixed_);
    }

    void run() {
        std::vector<std::thread> threads;
        threads.emplace_back([this] { write(); });
        threads.emplace_back([this] { come_and_go(); });
        threads.emplace_back([this] { start_threads(); });
        for (int i = 0; i < 3; ++i) threads.emplace_back([this] { read(); });
        auto const end = std::chrono::steady_clock::now() + duration();
        // On a busy machine it takes longer until everybody had a turn.
        while (std::chrono::steady_clock::now() < end || publications_ < 100 || reads_ < 1000 ||
               short_lives_ < 20 || late_reads_ < 20 || came_ < 20) {
            std::this_thread::yield();
        }
        stop_ = true;
        for (auto& thread : threads) thread.join();
    }

    int wrong() const { return wrong_; }
    std::weak_ptr<Vitals> vitals() const { return vitals_; }

private:
    /// All of its instances have the port `version`: a reader must never see two.
    InstanceTablePtr table(std::size_t service, int version) const {
        TableDraft draft{*InstanceTable::empty_table()};
        for (std::size_t number = 0; number < instances; ++number) {
            auto made = test::instance(number);
            made.service_name = name_of(service);
            made.port = version;
            draft.put(make_record(std::move(made), vitals_));
        }
        return std::move(draft).finish();
    }

    void write() {
        for (int version = 1; !stop_; ++version) {
            for (std::size_t i = 0; i < services; ++i) {
                fixed_[i]->publish(table(i, version));
                vitals_->lease_until.set(std::chrono::steady_clock::time_point{1s * version});
                ++publications_;
            }
        }
    }

    /// Ends and makes cells, so that slots go from hand to hand.
    void come_and_go() {
        for (int version = 1; !stop_; ++version) {
            auto const cell = std::make_shared<SnapshotCell>(name_of(services));
            cell->publish(table(services, version));
            index_.add(cell);
            if (version % 3 == 0) index_.remove(*cell);
            ++came_;
        }
    }

    void expect(bool right) {
        if (!right) ++wrong_;
    }

    void check(Snapshot const& snapshot, std::size_t service) {
        expect(snapshot.size() == instances);
        auto const port = snapshot.begin()->port;
        for (auto const& instance : snapshot) {
            expect(instance.port == port && instance.service_name == name_of(service));
        }
        expect(snapshot.find(test::id_of(3))->port == port);
        expect(snapshot.state(test::id_of(3)).has_value());
        expect(static_cast<bool>(choose(snapshot)));
        ++reads_;
    }

    void read() {
        std::array<std::uint64_t, services> revisions{};
        for (std::size_t i = 0; !stop_; i = (i + 1) % services) {
            auto const direct = fixed_[i]->snapshot();
            check(direct, i);
            expect(direct.revision() >= revisions[i]);
            auto const by_name = index_.instances(name_of(i));
            expect(by_name && by_name->revision() >= direct.revision());
            revisions[i] = by_name->revision();
            if (auto const guest = index_.instances(name_of(services))) check(*guest, services);
            if (auto old = exchange_.swap(*by_name)) {
                auto const copy = *old;
                old.reset();
                expect(copy.size() == instances);
            }
        }
    }

    /// Reads when its thread ends.
    struct LastRead {
        ~LastRead() {
            if (last) last();
        }
        std::function<void()> last;
    };

    static LastRead& last_read() {
        static thread_local LastRead at_the_end;
        return at_the_end;
    }

    void read_late() {
        auto const snapshot = fixed_[0]->snapshot();
        check(snapshot, 0);
        check(*index_.instances(name_of(1)), 1);
        exchange_.swap(snapshot);
        ++late_reads_;
    }

    void start_threads() {
        for (int i = 0; !stop_; ++i) {
            std::thread{[this, i] {
                // Before the thread's table is gone, and after.
                if (i % 2 == 0) last_read().last = [this] { read_late(); };
                for (std::size_t service = 0; service < services; ++service) {
                    auto snapshot = fixed_[service]->snapshot();
                    check(snapshot, service);
                    exchange_.swap(std::move(snapshot));
                }
                last_read().last = [this] { read_late(); };
            }}.join();
            ++short_lives_;
        }
    }

    std::shared_ptr<Vitals> const vitals_ = std::make_shared<Vitals>();
    std::vector<NameIndex::CellPtr> fixed_;
    NameIndex index_;
    Exchange exchange_;
    std::atomic<bool> stop_ = false;
    std::atomic<int> wrong_ = 0;
    std::atomic<std::uint64_t> publications_ = 0;
    std::atomic<std::uint64_t> reads_ = 0;
    std::atomic<std::uint64_t> short_lives_ = 0;
    std::atomic<std::uint64_t> late_reads_ = 0;
    std::atomic<std::uint64_t> came_ = 0;
};

TEST(LiveStress, ShowsWholeVersionsAndLeavesNothingBehind) {
    auto stress = std::make_unique<Stress>();
    auto const watched = stress->vitals();
    stress->run();
    EXPECT_EQ(stress->wrong(), 0);
    stress.reset();
    EXPECT_TRUE(watched.expired()) << watched.use_count() << " records are left";
}

}  // namespace
}  // namespace rollcall::live
