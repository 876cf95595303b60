#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "balance/candidates.hpp"

namespace rollcall::test {

using balance::CallStats;
using balance::Candidates;
using balance::Member;
using balance::Moment;
using balance::Outliers;
using balance::Plan;
using balance::Policy;

/// Instances with what is known of them, from which handles of several policies choose; time passes
/// only when it is told to.
class Crowd {
public:
    using Time = balance::Moment::Time;

    Crowd() = default;
    Crowd(std::initializer_list<int> weights) {
        for (auto const weight : weights) add(weight);
    }

    /// So many that weigh the same.
    static Crowd of(std::size_t size, int weight = 1) {
        Crowd made;
        for (std::size_t i = 0; i < size; ++i) made.add(weight);
        return made;
    }

    std::size_t add(int weight, Metadata metadata = {}) {
        auto const number = instances_.size();
        auto& made = instances_.emplace_back();
        char id[16];
        std::snprintf(id, sizeof id, "i-%05zu", number);
        made.service_name = "orders";
        made.instance_id = id;
        made.weight = weight;
        made.metadata = std::move(metadata);
        stats_.emplace_back();
        able_.push_back(true);
        there_.push_back(true);
        return number;
    }
    void set_able(std::size_t number, bool able) { able_[number] = able; }
    void set_there(std::size_t number, bool there) { there_[number] = there; }

    std::size_t size() const { return instances_.size(); }
    CallStats& stats(std::size_t number) { return stats_[number]; }
    ServiceInstance const& instance(std::size_t number) const { return instances_[number]; }

    std::vector<Member> members() {
        std::vector<Member> all;
        for (std::size_t i = 0; i < size(); ++i) {
            auto const& one = instances_[i];
            if (!there_[i]) continue;
            auto const weight = static_cast<std::uint32_t>(one.weight > 0 ? one.weight : 0);
            all.push_back({&one, &stats_[i], weight, able_[i]});
        }
        return all;
    }

private:
    std::deque<ServiceInstance> instances_;
    std::deque<CallStats> stats_;
    std::vector<bool> able_;
    std::vector<bool> there_;
};

/// Of a crowd, by one policy.
class Handle {
public:
    Handle(Crowd& crowd, Policy policy, std::shared_ptr<Outliers> outliers = {})
        : crowd_(crowd),
          plan_(std::make_shared<Plan const>(
              std::move(policy), outliers ? std::move(outliers) : std::make_shared<Outliers>())) {
        look();
    }

    /// Sees who is there now.
    void look() {
        auto const members = crowd_.members();
        candidates_ = std::make_unique<Candidates const>(plan_, members, candidates_.get());
    }
    Candidates const& candidates() const { return *candidates_; }

    /// None: nobody.
    std::optional<std::size_t> choose(ChooseOptions const& options = {}) {
        Moment moment{now};
        auto const* const chosen = candidates_->choose(options, random, moment, &turns_);
        if (chosen == nullptr) return std::nullopt;
        return std::strtoul(chosen->instance->instance_id.c_str() + 2, nullptr, 10);
    }
    std::optional<std::size_t> choose(std::string_view key) {
        ChooseOptions options;
        options.key = key;
        return choose(options);
    }
    std::optional<std::size_t> start(ChooseOptions const& options = {}) {
        auto const chosen = choose(options);
        if (chosen) crowd_.stats(*chosen).begin();
        return chosen;
    }
    void end(std::size_t number, CallOutcome outcome,
             std::optional<std::chrono::nanoseconds> latency = std::nullopt) {
        Moment moment{now};
        candidates_->end_call(crowd_.stats(number), outcome, latency, moment);
    }

    /// How often each is chosen.
    std::vector<std::uint64_t> counts(int draws, ChooseOptions const& options = {}) {
        std::vector<std::uint64_t> counted(crowd_.size());
        for (int i = 0; i < draws; ++i) {
            if (auto const chosen = choose(options)) ++counted[*chosen];
        }
        return counted;
    }

    Crowd::Time now{std::chrono::hours{1}};
    balance::Random random{42};

private:
    Crowd& crowd_;
    balance::PlanPtr plan_;
    balance::Turns turns_;
    std::unique_ptr<Candidates const> candidates_;
};

inline std::vector<Balancer> all_balancers() {
    return {WeightedRandom{}, RoundRobin{}, LeastOutstanding{}, LowestLatency{}, ConsistentHash{}};
}

}  // namespace rollcall::test
