#include "registry/sweeper.hpp"

#include <algorithm>
#include <atomic>
#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/system/system_error.hpp>
#include <utility>

namespace rollcall {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds sweep_limit{4'000};
constexpr milliseconds yield_limit{200};

// Nobody keeps others from sweeping for longer, dead or alive.
constexpr milliseconds longest_hold{60'000};

class SweptPort final : public Swept {
public:
    explicit SweptPort(std::shared_ptr<LayoutPort> port) : port_(std::move(port)) {}

    Task<Result<SweepReport>> sweep_as_leader(milliseconds hold, Deadline deadline) override {
        return port_->sweep_as_leader(hold, deadline);
    }
    Task<Result<void>> yield_sweeping(Deadline deadline) override {
        return port_->yield_sweeping(deadline);
    }

private:
    std::shared_ptr<LayoutPort> port_;
};

}  // namespace

struct Sweeper::State {
    std::shared_ptr<Swept> swept;
    Log log;
    SweepSchedule schedule;
    OnReport on_report;
    std::atomic<bool> stopping = false;

    /// Longer than the usual pause between two sweeps, so that the lease stays with its holder.
    milliseconds hold() const {
        auto const pause = std::min(schedule.period, longest_hold);
        return std::min(pause + pause / 2 + sweep_limit, longest_hold);
    }

    static Task<void> sweep(std::shared_ptr<State> state) {
        auto const report =
            co_await state->swept->sweep_as_leader(state->hold(), after(sweep_limit));
        if (report.has_error()) {
            if (state->stopping) co_return;
            state->log.write(
                LogLevel::warning, "sweep",
                "expired instances could not be looked for: " + report.error().detail());
            co_return;
        }
        for (auto const& service : report->services) {
            if (!service.failure) continue;
            state->log.write(
                LogLevel::warning, "sweep",
                "service " + service.service + " could not be swept: " + service.failure->detail());
        }
        if (state->on_report) state->on_report(*report);
    }

    /// A stop may cut a sweep short anywhere: each removal is announced in the step that removes.
    static Task<void> sweep_on(std::shared_ptr<State> state) {
        auto wait = state->schedule.delay;
        for (;;) {
            bool const goes_on = co_await pause(wait);
            if (!goes_on || state->stopping) co_return;
            co_await sweep(state);
            wait = state->schedule.period;
        }
    }

    static Task<void> run(std::shared_ptr<State> state) {
        try {
            co_await sweep_on(state);
        } catch (boost::system::system_error const&) {  // What ends a cancelled coroutine.
            if (!state->stopping) throw;
        }
        co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
        co_await state->swept->yield_sweeping(after(yield_limit));
    }
};

Sweeper::Sweeper(std::shared_ptr<redis::ClientCore> core, std::shared_ptr<Swept> swept,
                 SweepSchedule schedule, OnReport on_report)
    : core_(std::move(core)), state_(std::make_shared<State>()) {
    state_->swept = std::move(swept);
    state_->log = core_->log();
    state_->schedule = schedule;
    state_->on_report = std::move(on_report);
}

Sweeper::Sweeper(std::shared_ptr<redis::ClientCore> core, std::shared_ptr<LayoutPort> port,
                 SweepSchedule schedule, OnReport on_report)
    : Sweeper(std::move(core), std::make_shared<SweptPort>(std::move(port)), schedule,
              std::move(on_report)) {}

Sweeper::~Sweeper() { stop(); }

void Sweeper::start() {
    if (std::exchange(running_, true)) return;
    state_->stopping = false;
    work_ = core_->spawn([state = state_] { return State::run(state); });
}

void Sweeper::stop() noexcept {
    if (!std::exchange(running_, false)) return;
    state_->stopping = true;
    work_.stop();
}

}  // namespace rollcall
