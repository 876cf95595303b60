#include "cosky/expiry_sweep.hpp"

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>

namespace rollcall::cosky {

ExpirySweep::ExpirySweep(DiscoveryRedisScripts const& scripts, InstanceReader& reader,
                         std::string ns)
    : scripts_(scripts),
      reader_(reader),
      ns_(std::move(ns)),
      lease_(scripts.shared_core(), ns_ + ":rollcall:sweep") {}

Task<Result<std::vector<std::string>>> ExpirySweep::sweep(std::string const& service,
                                                          Deadline deadline) {
    auto const expired = co_await reader_.expired(ns_, service, deadline);
    if (expired.has_error()) co_return expired.error();
    std::vector<std::string> removed;
    for (std::span<std::string const> left{*expired}; !left.empty();) {
        auto const some = left.first(std::min(left.size(), DiscoveryRedisScripts::max_expired));
        left = left.subspan(some.size());
        auto const done =
            co_await scripts_.discovery_expire(ns_, service, some, Unannounced::removed, deadline);
        if (done.has_error()) co_return done.error();
        removed.insert(removed.end(), done->begin(), done->end());
    }
    co_return removed;
}

Task<Result<SweepReport>> ExpirySweep::run(Deadline deadline) {
    auto const services = co_await reader_.services(ns_, deadline);
    if (services.has_error()) co_return services.error();
    SweepReport report;
    for (auto const& service : *services) {
        auto const removed = co_await sweep(service, deadline);
        if (removed.has_value() && removed->empty()) continue;
        auto& part = report.services.emplace_back();
        part.service = service;
        if (removed.has_error()) {
            part.failure = removed.error();
            if (std::chrono::steady_clock::now() >= deadline) break;
        } else {
            part.removed = *removed;
        }
    }
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
