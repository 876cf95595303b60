#include "rollcall/service.hpp"

#include <stdexcept>
#include <string>
#include <utility>

#include "registry/live/directory.hpp"
#include "registry/live/service_state.hpp"
#include "registry/outcome.hpp"

namespace rollcall {
namespace live {
namespace {

Failure too_old(WatchedService const& service, std::chrono::milliseconds age) {
    auto text =
        "service " + service.name() + " was last read " + std::to_string(age.count()) + " ms ago";
    if (auto const why = service.failure()) return {why->code(), text + ": " + why->detail()};
    return {errc::not_connected, std::move(text)};
}

Failure not_loaded(WatchedService const& service, redis::ClientCore const& core) {
    if (core.closed()) return redis::was_forked();
    if (core.on_io_thread()) {
        return {errc::closed, "service " + service.name() +
                                  " is not loaded, and the client's own I/O thread cannot wait"};
    }
    if (auto const why = service.failure()) {
        return {why->code(), "service " + service.name() + ": " + why->detail()};
    }
    return {errc::timeout, "service " + service.name() + " was not loaded in time"};
}

/// What was on disk is an answer only to those who want the last good one.
bool wait_for_content(WatchedService const& service, redis::ClientCore const& core, bool strict) {
    if (core.closed() || core.on_io_thread()) return false;
    auto const end = core.deadline();
    return strict ? service.wait_until_loaded(end) : service.wait_until_readable(end);
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

}  // namespace

Result<Snapshot> ServiceState::instances() const {
    auto const& watched = use->service();
    bool const strict = options.on_failure == ServiceOptions::OnFailure::error;
    if (!watched.readable() || (strict && !watched.loaded())) [[unlikely]] {
        auto const& core = use->directory().core();
        if (!wait_for_content(watched, core, strict)) return not_loaded(watched, core);
    }
    if (strict) {
        auto const age = watched.age().value_or(std::chrono::milliseconds::max());
        if (age > options.max_age) return too_old(watched, age);
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

Choice Service::choose() const { return live::choose(instances()); }
Choice Service::choose(std::error_code& error) const { return live::choose(instances(error)); }

std::chrono::milliseconds Service::age() const noexcept {
    return state_->use->service().age().value_or(std::chrono::milliseconds::max());
}

bool Service::stale() const noexcept { return !state_->use->service().live(); }

Watch Service::on_change(std::function<void(Change const&)> listener) const {
    return Watch{live::watch_service(state_->use, std::move(listener))};
}

}  // namespace rollcall
