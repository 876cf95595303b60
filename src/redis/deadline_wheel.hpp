#pragma once

#include <algorithm>
#include <array>
#include <boost/intrusive/list.hpp>
#include <chrono>
#include <cstdint>
#include <optional>

#include "core/deadline.hpp"

namespace rollcall::redis {

/// What has a place in a wheel; leaves it when destroyed.
struct Timed {
    using Hook = boost::intrusive::list_member_hook<
        boost::intrusive::link_mode<boost::intrusive::auto_unlink>>;

    Deadline deadline = {};
    Hook hook = {};

    void unlink() { hook.unlink(); }
};

/// Deadlines of many operations behind one timer: adding and removing cost a few instructions,
/// whatever the number; a timer of its own for each request costs about as much as the request.
///
///     buckets of 16 ms, 256 of them; a deadline further away waits in its bucket for later rounds
///
///     | 0 | 1 | 2 | … | 255 |
///           ^ next to expire
///
/// An item is reported at most one bucket's width after its deadline, never before.
class DeadlineWheel {
public:
    explicit DeadlineWheel(Deadline now) : next_(tick(now)) {}

    /// Returns when `expire` will report it.
    Deadline add(Timed& item);

    /// When `expire` is next worth calling; none when empty.
    std::optional<Deadline> next() const;

    /// Takes out everything whose deadline has passed and hands it to `sink`, which may add items.
    template <class Sink>
    void expire(Deadline now, Sink&& sink);

private:
    static constexpr std::chrono::milliseconds width{16};
    static constexpr std::uint64_t buckets = 256;
    using List =
        boost::intrusive::list<Timed,
                               boost::intrusive::member_hook<Timed, Timed::Hook, &Timed::hook>,
                               boost::intrusive::constant_time_size<false>>;

    static std::uint64_t tick(Deadline moment) {
        return static_cast<std::uint64_t>(
            std::max<std::int64_t>(moment.time_since_epoch() / width, 0));
    }

    static Deadline end_of(std::uint64_t tick) {
        return Deadline{std::chrono::duration_cast<Deadline::duration>(width * (tick + 1))};
    }

    std::array<List, buckets> buckets_;
    std::uint64_t next_;  // The first tick whose bucket has not been looked through to its end.
};

template <class Sink>
void DeadlineWheel::expire(Deadline now, Sink&& sink) {
    auto const end = tick(now);  // Its bucket is still filling.
    List due;
    auto const rounds = std::min(end - std::min(end, next_), buckets);
    for (std::uint64_t i = 0; i < rounds; ++i) {
        auto& bucket = buckets_[(next_ + i) % buckets];
        for (auto at = bucket.begin(); at != bucket.end();) {
            auto& item = *at++;
            if (item.deadline > now) continue;
            item.unlink();
            due.push_back(item);
        }
    }
    next_ = std::max(next_, end);
    while (!due.empty()) {
        auto& item = due.front();
        due.pop_front();
        sink(item);
    }
}

}  // namespace rollcall::redis
