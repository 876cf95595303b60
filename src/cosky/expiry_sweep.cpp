#include "cosky/expiry_sweep.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <iterator>
#include <utility>

#include "cosky/roll.hpp"

namespace rollcall::cosky {
namespace {

SweepReport::Service failed(std::string const& service, Failure const& failure) {
    SweepReport::Service part;
    part.service = service;
    part.failure = failure;
    return part;
}

/// What takes the instances off the lists that have expired, at most so many with one call.
std::vector<ExpireCall> calls_for(std::string const& ns, std::span<std::string const> services,
                                  std::span<Roll> rolls) {
    std::vector<ExpireCall> calls;
    for (std::size_t i = 0; i < services.size(); ++i) {
        auto some = expire_calls(ns, services[i], rolls[i].expired, Unannounced::removed);
        std::ranges::move(some, std::back_inserter(calls));
    }
    return calls;
}

bool has_passed(Deadline deadline) { return std::chrono::steady_clock::now() >= deadline; }

}  // namespace

ExpirySweep::ExpirySweep(DiscoveryRedisScripts const& scripts, InstanceReader& reader,
                         std::string ns)
    : scripts_(scripts),
      reader_(reader),
      ns_(std::move(ns)),
      lease_(scripts.shared_core(), ns_ + ":rollcall:sweep") {}

/// The parts of those where something was removed or failed.
Task<std::vector<SweepReport::Service>> ExpirySweep::sweep(std::span<std::string const> services,
                                                           Deadline deadline) {
    auto rolls = co_await call_rolls(scripts_.core().session(), ns_, services, deadline);
    auto const calls = calls_for(ns_, services, rolls);
    auto const removals = co_await scripts_.discovery_expire(calls, deadline);
    std::vector<SweepReport::Service> parts;
    std::size_t c = 0;
    for (std::size_t i = 0; i < services.size(); ++i) {
        SweepReport::Service part;
        part.service = services[i];
        part.failure = rolls[i].failure;
        for (; c < calls.size() && calls[c].service == services[i]; ++c) {
            if (removals[c].has_error()) {
                part.failure = removals[c].error();
            } else {
                part.removed.insert(part.removed.end(), removals[c]->begin(), removals[c]->end());
            }
        }
        if (part.failure || !part.removed.empty()) parts.push_back(std::move(part));
    }
    co_return parts;
}

/// Where the time ran out in a wave, the next sweep begins behind the first service that was not
/// done: whatever holds that one up holds up no other for ever.
void ExpirySweep::resume_behind(std::vector<std::string> const& services,
                                std::string_view service) {
    auto const at = std::ranges::upper_bound(services, service);
    first_ = at == services.end() ? std::string{} : *at;
}

Task<Result<SweepReport>> ExpirySweep::run(Deadline deadline) {
    auto const services = co_await reader_.services(ns_, deadline);
    if (services.has_error()) co_return services.error();
    auto order = *services;
    std::ranges::rotate(order, std::ranges::lower_bound(order, first_));
    first_.clear();
    SweepReport report;
    std::span<std::string const> left{order};
    while (!left.empty() && !has_passed(deadline)) {
        auto const wave = left.first(std::min(left.size(), services_per_wave));
        left = left.subspan(wave.size());
        auto parts = co_await sweep(wave, deadline);
        for (auto& part : parts) {
            if (part.failure && part.failure->code() == errc::cancelled) co_return *part.failure;
            if (part.failure && first_.empty() && has_passed(deadline)) {
                resume_behind(*services, part.service);
            }
            report.services.push_back(std::move(part));
        }
    }
    if (!left.empty() && first_.empty()) first_ = left.front();
    Failure const late{errc::timeout, "the time for cleaning up ran out"};
    for (auto const& service : left) report.services.push_back(failed(service, late));
    std::ranges::sort(report.services, {}, &SweepReport::Service::service);
    co_return report;
}

Task<Result<SweepReport>> ExpirySweep::run_as_leader(std::chrono::milliseconds hold,
                                                     Deadline deadline) {
    auto const leads = co_await lease_.take(hold, deadline);
    if (leads.has_error()) co_return leads.error();
    if (*leads) co_return co_await run(deadline);
    SweepReport other;
    other.leader = false;
    co_return other;
}

}  // namespace rollcall::cosky
