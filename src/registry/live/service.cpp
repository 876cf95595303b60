#include "rollcall/service.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>

#include "core/deadline.hpp"
#include "core/text.hpp"
#include "registry/live/directory.hpp"
#include "registry/live/service_state.hpp"
#include "registry/outcome.hpp"

namespace rollcall {
namespace live {
namespace {

// One that failed may have come a moment too early.
constexpr unsigned attempts_that_convince = 2;

/// Why nothing is read. Without a connection it is that for all, also for those whose read has not
/// failed yet, or waits for its turn.
std::optional<Failure> reason(WatchedService const& service, redis::ClientCore const& core) {
    if (auto const outage = core.outage()) return outage->why;
    return service.failure();
}

Failure too_old(WatchedService const& service, redis::ClientCore const& core,
                std::chrono::milliseconds age) {
    auto text =
        "service " + service.name() + " was last read " + std::to_string(age.count()) + " ms ago";
    if (core.closed()) return {errc::not_connected, std::move(text)};
    if (auto const why = reason(service, core)) return {why->code(), text + ": " + why->detail()};
    return {errc::not_connected, std::move(text)};
}

Failure not_loaded(WatchedService const& service, redis::ClientCore const& core) {
    if (core.closed()) return redis::was_forked();
    if (core.on_io_thread()) {
        return {errc::closed, "service " + service.name() +
                                  " is not loaded, and the client's own I/O thread cannot wait"};
    }
    if (auto const why = reason(service, core)) {
        return {why->code(), "service " + service.name() + ": " + why->detail()};
    }
    return {errc::timeout,
            "service " + service.name() + " was not loaded in time from " + core.url().to_string()};
}

/// Until when callers wait for a connection. Never, while there is one. All of them together no
/// longer than one would: Redis had that time to come, and who asks on is told at once.
Deadline end_of_patience(WatchedService const& service, redis::ClientCore const& core) {
    auto const outage = core.outage();
    if (!outage || outage->attempts < attempts_that_convince) return Deadline::max();
    return std::max(outage->since, service.reads_disk_since()) + core.request_timeout();
}

/// What was on disk is an answer only to those who want the last good one.
bool wait_for_content(WatchedService const& service, redis::ClientCore const& core, bool strict) {
    if (core.closed() || core.on_io_thread()) return false;
    for (auto const end = core.deadline();;) {
        auto const until = std::min(end, end_of_patience(service, core));
        if (strict ? service.wait_until_loaded(until) : service.wait_until_readable(until)) {
            return true;
        }
        auto const now = std::chrono::steady_clock::now();
        if (service.ended() || now >= end || now >= end_of_patience(service, core)) return false;
    }
}

class ServiceWatch final : public WatchState {
public:
    ServiceWatch(std::shared_ptr<Directory::Use> watched,
                 std::function<void(Change const&)> callback)
        : use_(std::move(watched)),
          listener_(std::make_shared<Listener>(std::move(callback),
                                               use_->directory().core().callbacks())) {
        use_->service().add_listener(listener_);
    }
    ~ServiceWatch() override {
        if (use_->directory().core().closed()) return;  // The thread is the parent's.
        listener_->stop();
        use_->service().remove_listener(listener_);
    }

private:
    std::shared_ptr<Directory::Use> const use_;
    std::shared_ptr<Listener> const listener_;
};

std::unique_ptr<WatchState> watch_service(std::shared_ptr<Directory::Use> watched,
                                          std::function<void(Change const&)> callback) {
    if (!callback) throw std::invalid_argument{"on_change: a listener without a function"};
    watched->directory().require_open();
    return std::make_unique<ServiceWatch>(std::move(watched), std::move(callback));
}

bool chooses_by_weight_only(balance::Policy const& policy) {
    return std::holds_alternative<WeightedRandom>(policy.balancer) &&
           policy.locality.zone.empty() && policy.locality.region.empty() &&
           policy.slow_start.count() == 0 && policy.ejection.consecutive_failures == 0;
}

}  // namespace

balance::Policy policy_of(ServiceOptions const& options) {
    balance::Policy policy;
    policy.balancer = options.balancer;
    policy.locality = options.locality;
    policy.slow_start = options.slow_start;
    policy.ejection = options.ejection;
    return policy;
}

void validate(ServiceOptions const& options) {
    balance::validate(policy_of(options));
    auto const age = options.max_age;
    if (age >= std::chrono::milliseconds{1} && age <= longest_limit) return;
    refuse("max_age", std::to_string(age.count()) + " ms", "must be from 1 ms to a hundred years");
}

ServiceState::ServiceState(std::shared_ptr<Directory::Use> watched, ServiceOptions const& given)
    : use(std::move(watched)),
      cell(use->service().cell()),
      options(given),
      plan(use->service().plans().get(policy_of(given))),
      by_weight_only(chooses_by_weight_only(plan->policy())),
      turns(plan->kind() == balance::Plan::Kind::round_robin ? std::make_unique<balance::Turns>()
                                                             : nullptr) {}

ServiceState::Picked ServiceState::pick(Snapshot const& snapshot, ChooseOptions const& wanted,
                                        balance::Moment& moment) const {
    auto const* const table = SnapshotAccess::table(snapshot);
    if (table == nullptr) return {};
    plan->note_use();
    auto const& candidates = table->candidates(plan);
    return {&candidates, candidates.choose(wanted, balance::thread_random(), moment, turns.get())};
}

Choice ServiceState::choose_by_plan(Snapshot snapshot, ChooseOptions const& wanted) const {
    balance::Moment moment;
    auto const* const chosen = pick(snapshot, wanted, moment).candidate;
    return {std::move(snapshot), chosen == nullptr ? nullptr : chosen->instance};
}

Result<Snapshot> ServiceState::instances() const {
    auto const& watched = use->service();
    bool const strict = options.on_failure == ServiceOptions::OnFailure::error;
    if (!watched.readable() || (strict && !watched.loaded())) [[unlikely]] {
        auto const& core = use->directory().core();
        if (!wait_for_content(watched, core, strict)) return not_loaded(watched, core);
    }
    if (strict) {
        auto const age = watched.age().value_or(std::chrono::milliseconds::max());
        if (age > options.max_age) return too_old(watched, use->directory().core(), age);
    }
    return cell->snapshot();
}

}  // namespace live

Watch::Watch() noexcept = default;
Watch::Watch(std::unique_ptr<live::WatchState> state) noexcept : state_(std::move(state)) {}
Watch::~Watch() = default;
Watch::Watch(Watch&&) noexcept = default;
Watch& Watch::operator=(Watch&&) noexcept = default;
void Watch::stop() noexcept { state_.reset(); }

std::string const& Service::name() const noexcept { return state_->cell->name(); }

Snapshot Service::instances() const { return outcome(state_->instances()); }

Snapshot Service::instances(std::error_code& error) const {
    return outcome(state_->instances(), error);
}

Choice Service::choose(ChooseOptions const& options) const {
    return state_->choose(instances(), options);
}
Choice Service::choose(ChooseOptions const& options, std::error_code& error) const {
    return state_->choose(instances(error), options);
}
Choice Service::choose(std::error_code& error) const { return choose({}, error); }

Call Service::start_call(Snapshot snapshot, ChooseOptions const& options) const {
    balance::Moment moment;
    std::optional<balance::Moment::Time> started;
    // First: measurements that are too old count for nothing.
    if (state_->plan->measures()) started = moment.get();
    auto const [from, chosen] = state_->pick(snapshot, options, moment);
    if (chosen == nullptr) return {};
    return Call{Choice{std::move(snapshot), chosen->instance}, from, chosen->stats, started};
}

Call Service::start_call(ChooseOptions const& options) const {
    return start_call(instances(), options);
}
Call Service::start_call(ChooseOptions const& options, std::error_code& error) const {
    return start_call(instances(error), options);
}
Call Service::start_call(std::error_code& error) const { return start_call({}, error); }

std::chrono::milliseconds Service::age() const noexcept {
    return state_->use->service().age().value_or(std::chrono::milliseconds::max());
}

bool Service::stale() const noexcept { return !state_->use->service().live(); }

Watch Service::on_change(std::function<void(Change const&)> listener) const {
    return Watch{live::watch_service(state_->use, std::move(listener))};
}

}  // namespace rollcall
