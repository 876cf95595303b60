#include "streaming/expiry_sweep.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <iterator>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "streaming/event_text.hpp"
#include "streaming/instance_snapshot.hpp"

namespace rollcall::streaming {
namespace {

// Services that are swept at the same time: bounds what a sweep holds in memory.
constexpr std::size_t services_per_wave = 64;

/// What subscribers are told of an instance that goes.
std::string tail_of(std::string const& service, CleanupReply::Snapshot const& snapshot) {
    std::vector<InstanceEntryCodec::Field> const fields{snapshot.hash.begin(), snapshot.hash.end()};
    auto const instance = parse_snapshot(service, snapshot.id, fields);
    return event_tail(service, snapshot.id, instance ? &*instance : nullptr);
}

/// The call that follows an answer: with the announcements that it lacked, or for what lies behind.
std::optional<CleanupCall> next_call(CleanupCall const& call, CleanupReply const& reply) {
    if (reply.untold.empty() && !reply.more) return std::nullopt;
    auto next = call;
    next.tails.clear();
    for (auto const& snapshot : reply.untold) {
        next.tails.emplace_back(snapshot.id, tail_of(call.service, snapshot));
    }
    if (reply.untold.empty()) next.skip += reply.kept;
    return next;
}

}  // namespace

ExpirySweep::ExpirySweep(RegistryLuaScriptExecutor const& scripts, InstanceReader& reader)
    : scripts_(scripts),
      reader_(reader),
      lease_(scripts.shared_core(), scripts.keys().prefix() + ":rollcall:sweep") {}

Task<Result<SweepReport>> ExpirySweep::run(Milliseconds timeout, Deadline deadline) {
    auto const services = co_await reader_.services(deadline);
    if (services.has_error()) co_return services.error();
    co_return co_await run_for(*services, timeout, deadline);
}

Task<SweepReport> ExpirySweep::run_for(std::vector<std::string> const& services,
                                       Milliseconds timeout, Deadline deadline, GivenTime now) {
    std::vector<CleanupCall> pending;
    pending.reserve(services.size());
    for (auto const& service : services) {
        auto& call = pending.emplace_back();
        call.service = service;
        call.timeout = timeout;
        call.now = now;
    }
    std::map<std::string, SweepReport::Service, std::less<>> reports;
    while (!pending.empty() && std::chrono::steady_clock::now() < deadline) {
        auto const end = pending.begin() +
                         static_cast<std::ptrdiff_t>(std::min(pending.size(), services_per_wave));
        std::vector<CleanupCall> const wave{std::make_move_iterator(pending.begin()),
                                            std::make_move_iterator(end)};
        pending.erase(pending.begin(), end);
        auto const replies =
            co_await scripts_.execute_cleanup_expired_instances_with_snapshots(wave, deadline);
        for (std::size_t i = 0; i < wave.size(); ++i) {
            auto const& service = wave[i].service;
            if (replies[i].has_error()) {
                reports[service].failure = replies[i].error();
                continue;
            }
            for (auto const& id : replies[i]->removed) reports[service].removed.push_back(id);
            if (auto next = next_call(wave[i], *replies[i])) pending.push_back(*std::move(next));
        }
    }
    for (auto const& call : pending) {
        reports[call.service].failure.emplace(errc::timeout, "the time for cleaning up ran out");
    }

    SweepReport result;
    for (auto& [service, report] : reports) {
        report.service = service;
        result.services.push_back(std::move(report));
    }
    co_return result;
}

Task<Result<SweepReport>> ExpirySweep::run_as_leader(Milliseconds timeout, Milliseconds hold,
                                                     Deadline deadline) {
    auto const leads = co_await lease_.take(hold, deadline);
    if (leads.has_error()) co_return leads.error();
    if (!*leads) {
        SweepReport other;
        other.leader = false;
        co_return other;
    }
    co_return co_await run(timeout, deadline);
}

}  // namespace rollcall::streaming
