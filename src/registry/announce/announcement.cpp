#include "rollcall/announcement.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "core/checks.hpp"
#include "core/deadline.hpp"
#include "registry/announce/announcement_state.hpp"

#include "rollcall/error.hpp"

namespace rollcall {
namespace {

using announce::AnnouncementState;
using std::chrono::milliseconds;

bool closed(AnnouncementState const& state) { return state.announcer->core().closed(); }

bool start_release(AnnouncementState& state) {
    if (std::exchange(state.released, true)) return false;
    state.announcer->release(state.record);
    return true;
}

Result<void> release_now(AnnouncementState& state) {
    if (closed(state)) return Failure{errc::closed, "this process was forked from the client's"};
    auto& core = state.announcer->core();
    if (!start_release(state)) state.announcer->hurry(state.record);
    if (core.on_io_thread()) return Failure{errc::closed, "called on the client's own I/O thread"};
    return state.record->wait_until_released(core.deadline(), false);
}

void change(AnnouncementState& state, ServiceInstance wanted) {
    state.wanted = state.announcer->port().validated(wanted);
    if (state.released || closed(state)) return;
    state.announcer->change(state.record, state.wanted);
}

std::error_code code_of(Result<void> const& result) {
    return result ? std::error_code{} : result.error().code();
}

/// Of a mark that keeps callers away. Errors: `errc::not_supported`.
void change_mark(AnnouncementState& state, bool Capabilities::* stored,
                 bool ServiceInstance::* mark, bool on) {
    if (!(state.announcer->port().capabilities().*stored)) {
        throw Error{errc::not_supported,
                    "this layout does not store whether an instance is " +
                        std::string{mark == &ServiceInstance::enabled ? "enabled" : "healthy"}};
    }
    auto wanted = state.wanted;
    wanted.*mark = on;
    change(state, std::move(wanted));
}

Result<void> drain_now(AnnouncementState& state, milliseconds settle) {
    if (closed(state) || state.released) return release_now(state);
    auto& core = state.announcer->core();
    if (core.on_io_thread()) return release_now(state);
    auto const begun = core.recess().begin();
    if (!state.announcer->port().capabilities().enabled_flag) {
        auto const released = release_now(state);
        if (released) core.recess().pass(begun, after(settle));
        return released;
    }
    auto disabled = state.wanted;
    disabled.enabled = false;
    change(state, std::move(disabled));
    // Where that cannot be written, callers may still be told by others: the time passes anyway.
    (void)state.record->wait_until_written(core.deadline());
    core.recess().pass(begun, after(settle));
    return release_now(state);
}

}  // namespace

Announcement::Announcement() noexcept = default;

Announcement::Announcement(std::shared_ptr<AnnouncementState> state) noexcept
    : state_(std::move(state)) {}

Announcement::Announcement(Announcement&&) noexcept = default;

Announcement& Announcement::operator=(Announcement&& other) noexcept {
    if (this != &other) {
        Announcement const ended{std::move(*this)};
        state_ = std::move(other.state_);
    }
    return *this;
}

Announcement::~Announcement() {
    if (!state_ || closed(*state_)) return;
    auto& announcer = *state_->announcer;
    auto& core = announcer.core();
    try {
        if (rollcall::start_release(*state_)) announcer.wait_briefly(state_->record);
        state_->record->close_hook(core.on_io_thread() || core.callbacks()->is_current());
    } catch (...) {
        core.log().write(LogLevel::error, "announced",
                         "no memory to deregister what was announced: its lease will end it");
    }
}

ServiceInstance Announcement::instance() const {
    return state_ ? state_->wanted : ServiceInstance{};
}

bool Announcement::registered() const noexcept { return state_ && state_->record->registered(); }

void Announcement::update_metadata(Metadata metadata) {
    if (!state_) return;
    auto wanted = state_->wanted;
    wanted.metadata = std::move(metadata);
    change(*state_, std::move(wanted));
}

void Announcement::set_enabled(bool on) {
    if (!state_) return;
    change_mark(*state_, &Capabilities::enabled_flag, &ServiceInstance::enabled, on);
}

void Announcement::set_healthy(bool on) {
    if (!state_) return;
    change_mark(*state_, &Capabilities::health_flag, &ServiceInstance::healthy, on);
}

void Announcement::set_weight(int weight) {
    if (!state_) return;
    check_weight(weight);
    auto wanted = state_->wanted;
    wanted.weight = weight;
    change(*state_, std::move(wanted));
}

void Announcement::drain(milliseconds settle) {
    if (state_) drain_now(*state_, settle).value();
}

void Announcement::drain(milliseconds settle, std::error_code& error) {
    error = state_ ? code_of(drain_now(*state_, settle)) : std::error_code{};
}

void Announcement::release() {
    if (state_) release_now(*state_).value();
}

void Announcement::release(std::error_code& error) {
    error = state_ ? code_of(release_now(*state_)) : std::error_code{};
}

void Announcement::start_release() {
    if (state_ && !closed(*state_)) (void)rollcall::start_release(*state_);
}

}  // namespace rollcall
