#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "support/call_simulation.hpp"

namespace rollcall::test {

/// What is seen of the calls of some time.
struct Seen {
    double slow = 0;  ///< Calls to it, where 1 is the fair share. So are the two below.
    double failing = 0;
    double newcomer = 0;
    double least = 0;  ///< Of all instances, as the above.
    double most = 0;
    double in_zone = 0;  ///< Part of the calls.
    double errors = 0;   ///< Part of the calls.
    double half_in = 0;  ///< Milliseconds that half of the calls took. Below: 99 of 100.
    double most_in = 0;
};

/// Fifty instances in three zones, which answer in 20 ms on average and eight calls at once, and
/// ten processes that call them, all in the first zone: in all 5,000 times a second.
class Fleet {
public:
    static constexpr std::size_t size = 50;
    static constexpr std::size_t slow = 10;
    static constexpr std::size_t failing = 20;

    Fleet(balance::Policy const& policy, std::uint64_t seed);

    Behaviour& behaviour(std::size_t instance) { return simulation_->behaviour(instance); }
    /// Of everything that is in the first zone.
    void lose_zone();
    void zone_is_noticed_to_be_lost();
    std::size_t add_one();
    Seen run_for(std::chrono::seconds time);

private:
    static std::string zone_of(std::size_t instance);
    void look();

    std::deque<Crowd> processes_;
    std::deque<Handle> handles_;
    std::unique_ptr<CallSimulation> simulation_;
};

}  // namespace rollcall::test
