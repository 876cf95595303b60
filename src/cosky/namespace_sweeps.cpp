#include "cosky/namespace_sweeps.hpp"

#include <cstddef>
#include <iterator>
#include <utility>

namespace rollcall::cosky {

void NamespaceSweeps::set_namespaces(std::set<std::string> namespaces) {
    std::lock_guard const lock{mutex_};
    namespaces_ = std::move(namespaces);
}

/// Begins with what is new and gives up what is not to be swept any more.
Task<void> NamespaceSweeps::follow(Deadline deadline) {
    std::set<std::string> wanted;
    {
        std::lock_guard const lock{mutex_};
        wanted = namespaces_;
    }
    for (auto const& ns : wanted) sweeps_.try_emplace(ns, scripts_, reader_, ns);
    for (auto at = sweeps_.begin(); at != sweeps_.end();) {
        if (wanted.contains(at->first)) {
            ++at;
            continue;
        }
        (void)co_await at->second.yield(deadline);
        at = sweeps_.erase(at);
    }
}

/// In the order of names, round and round.
std::string NamespaceSweeps::next_after(std::string const& ns) const {
    auto const at = sweeps_.upper_bound(ns);
    return at == sweeps_.end() ? sweeps_.begin()->first : at->first;
}

Task<Result<SweepReport>> NamespaceSweeps::sweep_as_leader(std::chrono::milliseconds hold,
                                                           Deadline deadline) {
    co_await follow(deadline);
    SweepReport all;
    all.leader = false;
    if (sweeps_.empty()) co_return all;
    auto at = sweeps_.lower_bound(first_);
    if (at == sweeps_.end()) at = sweeps_.begin();
    first_ = next_after(at->first);
    for (std::size_t i = 0; i < sweeps_.size(); ++i) {
        auto const& ns = at->first;
        auto const report = co_await at->second.run_as_leader(hold, deadline);
        if (report.has_error()) {
            if (report.error().code() == errc::cancelled) co_return report.error();
            scripts_.core().log().write(LogLevel::warning, "sweep",
                                        "expired instances in " + ns +
                                            " could not be looked for: " + report.error().detail());
        } else {
            all.leader = all.leader || report->leader;
            for (auto part : report->services) {
                part.service = ns + "/" + part.service;
                all.services.push_back(std::move(part));
            }
        }
        if (++at == sweeps_.end()) at = sweeps_.begin();
    }
    co_return all;
}

Task<Result<void>> NamespaceSweeps::yield_sweeping(Deadline deadline) {
    for (auto& [ns, sweep] : sweeps_) (void)co_await sweep.yield(deadline);
    co_return Result<void>{};
}

}  // namespace rollcall::cosky
