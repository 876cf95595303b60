#include "rollcall/renewal.hpp"

#include <utility>

#include "registry/announce/renewal_state.hpp"

namespace rollcall {

Renewal::Renewal() noexcept = default;

Renewal::Renewal(std::shared_ptr<announce::RenewalState> state) noexcept
    : state_(std::move(state)) {}

Renewal::Renewal(Renewal&&) noexcept = default;

Renewal& Renewal::operator=(Renewal&& other) noexcept {
    if (this != &other) {
        Renewal const ended{std::move(*this)};
        state_ = std::move(other.state_);
    }
    return *this;
}

Renewal::~Renewal() {
    if (!state_) return;
    auto& [announcer, record] = *state_;
    auto& core = announcer->core();
    if (core.closed()) return;
    try {
        // First, so that the end itself is not told.
        record->close_hook(core.on_io_thread() || core.callbacks()->is_current());
        announcer->release(record);
    } catch (...) {
        core.log().write(LogLevel::error, "renewed",
                         "no memory to end a renewal: it goes on until its client ends");
    }
}

std::string Renewal::service_name() const { return state_ ? state_->record->id.service : ""; }

std::string Renewal::instance_id() const { return state_ ? state_->record->id.id : ""; }

bool Renewal::registered() const noexcept { return state_ && state_->record->registered(); }

}  // namespace rollcall
