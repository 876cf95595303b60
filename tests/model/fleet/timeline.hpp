#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace rollcall::test::fleet {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;
using Time = std::chrono::steady_clock::time_point;

/// Virtual time: what is to happen, in order. What is due at the same moment happens in the order
/// in which it was asked for.
class Timeline {
public:
    using Action = std::function<void()>;

    Time now() const noexcept { return now_; }
    void at(Time time, Action action) {
        events_.push_back({std::max(time, now_), ++last_, std::move(action)});
        std::push_heap(events_.begin(), events_.end(), later);
    }
    void after(microseconds wait, Action action) { at(now_ + wait, std::move(action)); }

    bool empty() const noexcept { return events_.empty(); }
    Time next() const { return events_.front().time; }
    /// Goes on to the next event, which it gives.
    Action advance() {
        std::pop_heap(events_.begin(), events_.end(), later);
        auto event = std::move(events_.back());
        events_.pop_back();
        now_ = event.time;
        return std::move(event.action);
    }

private:
    struct Event {
        Time time;
        std::uint64_t number;
        Action action;
    };
    static bool later(Event const& a, Event const& b) {
        return std::pair{a.time, a.number} > std::pair{b.time, b.number};
    }

    Time now_{seconds{1'000'000}};
    std::uint64_t last_ = 0;
    std::vector<Event> events_;
};

}  // namespace rollcall::test::fleet
