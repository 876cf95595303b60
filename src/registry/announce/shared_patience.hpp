#pragma once

#include <chrono>

namespace rollcall::announce {

/// How long those who end may wait altogether, so that thousands of them, each of which hardly
/// waits, take no longer than one. What is used up comes back slowly. Has no clock.
///
/// Thread safety: one thread at a time.
class SharedPatience {
public:
    using Time = std::chrono::steady_clock::time_point;
    using Duration = std::chrono::steady_clock::duration;

    explicit SharedPatience(Duration all) : all_(all), left_(all) {}

    /// How long one that ends now may wait; it says in `use` how long it did. None waits once half
    /// is used up: that half is for the end of all (`rest`).
    Duration share(Time now);
    /// What is left for who comes last.
    Duration rest(Time now);
    void use(Duration waited);

private:
    Duration const all_;
    Duration left_;
    Time seen_at_ = Time::min();
};

}  // namespace rollcall::announce
