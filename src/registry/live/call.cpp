#include "rollcall/call.hpp"

#include <utility>

#include "balance/candidates.hpp"

namespace rollcall {

using std::chrono::nanoseconds;

Call::Call(Choice choice, balance::Candidates const* from, balance::CallStats* calls,
           std::optional<std::chrono::steady_clock::time_point> started) noexcept
    : choice_(std::move(choice)), from_(from), calls_(calls), started_(started) {
    if (calls_ != nullptr) calls_->begin();
}

Call::Call(Call&& other) noexcept
    : choice_(std::exchange(other.choice_, {})),
      from_(other.from_),
      calls_(std::exchange(other.calls_, nullptr)),
      started_(other.started_) {}

Call& Call::operator=(Call&& other) noexcept {
    if (this == &other) return *this;
    end(CallOutcome::cancelled);
    choice_ = std::exchange(other.choice_, {});
    from_ = other.from_;
    calls_ = std::exchange(other.calls_, nullptr);
    started_ = other.started_;
    return *this;
}

void Call::succeeded() noexcept { end_now(CallOutcome::succeeded); }
void Call::failed() noexcept { end_now(CallOutcome::failed); }

void Call::end(CallOutcome outcome, std::optional<nanoseconds> latency) noexcept {
    balance::Moment moment;
    if (calls_ != nullptr)
        from_->end_call(*std::exchange(calls_, nullptr), outcome, latency, moment);
}

void Call::end_now(CallOutcome outcome) noexcept {
    if (calls_ == nullptr) return;
    balance::Moment moment;
    std::optional<nanoseconds> latency;
    if (started_) latency = moment.get() - *started_;
    from_->end_call(*std::exchange(calls_, nullptr), outcome, latency, moment);
}

}  // namespace rollcall
