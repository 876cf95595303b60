#include "support/call_simulation.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

namespace rollcall::test {

using std::chrono::nanoseconds;

CallSimulation::CallSimulation(Crowd& crowd, std::vector<Handle*> handles, Options options)
    : crowd_(crowd), handles_(std::move(handles)), options_(options), random_(options.seed) {
    for (auto* const handle : handles_) handle->random = balance::Random{random_()};
    grow();
}

void CallSimulation::grow() {
    if (servers_.size() < crowd_.size()) servers_.resize(crowd_.size());
}

Behaviour& CallSimulation::behaviour(std::size_t instance) {
    grow();
    return servers_[instance].behaviour;
}

nanoseconds CallSimulation::exponential(nanoseconds mean) {
    auto const times = -std::log(1 - fraction());
    return nanoseconds{static_cast<std::int64_t>(static_cast<double>(mean.count()) * times)};
}

void CallSimulation::run(std::size_t calls) {
    grow();
    for (std::size_t i = 0; i < calls; ++i) begin_call();
}

void CallSimulation::run_for(nanoseconds time) {
    grow();
    for (auto const end = now_ + time; now_ < end;) begin_call();
}

void CallSimulation::begin_call() {
    nanoseconds const second = std::chrono::seconds{1};
    now_ += exponential(nanoseconds{
        static_cast<std::int64_t>(static_cast<double>(second.count()) / options_.calls_a_second)});
    end_calls(now_);
    auto const from = random_() % handles_.size();
    auto& handle = *handles_[from];
    handle.now = now_;
    std::string key;
    ChooseOptions wanted;
    if (options_.keys > 0) {
        key = "user-" + std::to_string(random_() % options_.keys);
        wanted.key = key;
    }
    auto const chosen = handle.start(wanted);
    if (!chosen) {
        ++nobody_there_;
        return;
    }
    auto const call = answer(*chosen);
    if (servers_[*chosen].behaviour.ends) {
        endings_.push({now_ + call.took, from, call});
    } else {
        calls_.push_back(call);
    }
}

SimulatedCall CallSimulation::answer(std::size_t instance) {
    auto& server = servers_[instance];
    auto const& behaviour = server.behaviour;
    bool failed = fraction() < behaviour.failing;
    auto const mean = failed ? behaviour.fails_in : behaviour.takes;
    auto const work = behaviour.varies ? exponential(mean) : mean;
    auto begins = now_;
    if (server.free.size() >= behaviour.workers) {
        begins = std::max(begins, server.free.top());
        server.free.pop();
    }
    server.free.push(begins + work);
    nanoseconds took = begins + work - now_;
    if (took > options_.timeout) {
        took = options_.timeout;
        failed = true;
    }
    return {now_, instance, took, failed};
}

void CallSimulation::end_calls(Time until) {
    while (!endings_.empty() && endings_.top().at <= until) {
        auto const ending = endings_.top();
        endings_.pop();
        auto& handle = *handles_[ending.handle];
        handle.now = ending.at;
        auto const outcome = ending.call.failed ? CallOutcome::failed : CallOutcome::succeeded;
        handle.end(ending.call.instance, outcome, ending.call.took);
        calls_.push_back(ending.call);
    }
}

double CallSimulation::share(std::size_t instance, std::size_t from) const {
    auto const begin = calls_.begin() + static_cast<std::ptrdiff_t>(from);
    auto const its = std::count_if(
        begin, calls_.end(), [instance](auto const& call) { return call.instance == instance; });
    return static_cast<double>(its) / static_cast<double>(calls_.end() - begin);
}

}  // namespace rollcall::test
