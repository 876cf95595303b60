#include "registry/sweeper.hpp"

#include <atomic>
#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/this_coro.hpp>
#include <utility>

namespace rollcall {
namespace {

using std::chrono::milliseconds;

// Together below the five seconds that a stop may take.
constexpr milliseconds sweep_limit{4'000};
constexpr milliseconds yield_limit{500};

}  // namespace

struct Sweeper::State {
    std::shared_ptr<LayoutPort> port;
    Log log;
    SweepSchedule schedule;
    OnReport on_report;
    std::atomic<bool> stopping = false;

    /// Longer than the pause between two sweeps, so that the lease stays with its holder.
    milliseconds hold() const { return schedule.period + schedule.period / 2 + sweep_limit; }

    static Task<void> sweep(std::shared_ptr<State> state) {
        auto const report =
            co_await state->port->sweep_as_leader(state->hold(), after(sweep_limit));
        if (report.has_error()) {
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

    static Task<void> run(std::shared_ptr<State> state) {
        auto wait = state->schedule.delay;
        while (!state->stopping) {
            bool const waited = co_await pause(wait);
            // A stop waits for the end of a sweep: what it removed must also be announced.
            co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
            if (!waited || state->stopping) break;
            co_await sweep(state);
            co_await asio::this_coro::reset_cancellation_state(
                asio::enable_terminal_cancellation());
            wait = state->schedule.period;
        }
        co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
        co_await state->port->yield_sweeping(after(yield_limit));
    }
};

Sweeper::Sweeper(std::shared_ptr<redis::ClientCore> core, std::shared_ptr<LayoutPort> port,
                 SweepSchedule schedule, OnReport on_report)
    : core_(std::move(core)), state_(std::make_shared<State>()) {
    state_->port = std::move(port);
    state_->log = core_->log();
    state_->schedule = schedule;
    state_->on_report = std::move(on_report);
}

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
