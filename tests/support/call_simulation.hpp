#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <queue>
#include <vector>

#include "balance/random.hpp"
#include "support/crowd.hpp"

namespace rollcall::test {

/// How an instance answers.
struct Behaviour {
    std::chrono::nanoseconds takes{std::chrono::milliseconds{20}};  ///< For one call, on average.
    bool varies = true;  ///< Exponentially distributed; else always the same.
    double failing = 0;  ///< Part of the calls.
    std::chrono::nanoseconds fails_in{std::chrono::milliseconds{1}};
    std::size_t workers = 8;  ///< Calls that it answers at once; others wait.
    bool ends = true;         ///< Whether its calls ever end.
};

struct SimulatedCall {
    Crowd::Time at;
    std::size_t instance;
    std::chrono::nanoseconds took;
    bool failed;
};

/// Calls that come at random, independent of each other, from callers with handles of their own,
/// and what becomes of them: on virtual time, and the same for each seed. Handles of several crowds
/// of the same instances are processes that know nothing of each other.
class CallSimulation {
public:
    struct Options {
        double calls_a_second = 1'000;
        std::chrono::nanoseconds timeout{std::chrono::seconds{1}};
        std::uint64_t seed = 1;
        std::size_t keys = 0;  ///< Calls are about one of so many; 0: about nothing.
    };

    CallSimulation(Crowd& crowd, std::vector<Handle*> handles, Options options);

    /// Of all instances that the crowd has by then.
    Behaviour& behaviour(std::size_t instance);
    void run(std::size_t calls);
    void run_for(std::chrono::nanoseconds time);
    Crowd::Time now() const { return now_; }

    /// In the order of their ends; those that have ended, or never will.
    std::vector<SimulatedCall> const& calls() const { return calls_; }
    std::size_t nobody_there() const { return nobody_there_; }
    /// Of the calls from number `from` on.
    double share(std::size_t instance, std::size_t from = 0) const;

private:
    using Time = Crowd::Time;
    struct Ending {
        Time at;
        std::size_t handle = 0;
        SimulatedCall call;
        bool operator>(Ending const& other) const { return at > other.at; }
    };
    struct Server {
        Behaviour behaviour;
        std::priority_queue<Time, std::vector<Time>, std::greater<>> free;  ///< One a worker.
    };

    double fraction() { return static_cast<double>(random_() >> 11) * 0x1p-53; }
    std::chrono::nanoseconds exponential(std::chrono::nanoseconds mean);
    void grow();
    void begin_call();
    void end_calls(Time until);
    SimulatedCall answer(std::size_t instance);

    Crowd& crowd_;
    std::vector<Handle*> const handles_;
    Options const options_;
    balance::Random random_;
    Time now_{std::chrono::hours{1}};
    std::vector<Server> servers_;
    std::priority_queue<Ending, std::vector<Ending>, std::greater<>> endings_;
    std::vector<SimulatedCall> calls_;
    std::size_t nobody_there_ = 0;
};

}  // namespace rollcall::test
