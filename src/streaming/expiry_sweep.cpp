#include "streaming/expiry_sweep.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "streaming/change_publisher.hpp"
#include "streaming/instance_snapshot.hpp"

namespace rollcall::streaming {
namespace {

// Services that are swept at the same time: bounds what a sweep holds in memory.
constexpr std::size_t services_per_wave = 64;

ServiceChangeEvent removal(std::string const& service, CleanupReply::Removed const& removed,
                           Milliseconds now) {
    std::vector<InstanceEntryCodec::Field> const fields{removed.snapshot.begin(),
                                                        removed.snapshot.end()};
    ServiceChangeEvent event;
    event.action = ServiceChangeAction::removed;
    event.service_name = service;
    event.instance_id = removed.id;
    event.timestamp = now;
    event.instance = parse_snapshot(service, removed.id, fields);
    return event;
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
    while (!pending.empty()) {
        auto const end = std::min(pending.size(), services_per_wave);
        std::vector<CleanupCall> const wave{pending.begin(),
                                            pending.begin() + static_cast<std::ptrdiff_t>(end)};
        pending.erase(pending.begin(), pending.begin() + static_cast<std::ptrdiff_t>(end));
        auto const replies =
            co_await scripts_.execute_cleanup_expired_instances_with_snapshots(wave, deadline);
        std::vector<ServiceChangeEvent> events;
        for (std::size_t i = 0; i < wave.size(); ++i) {
            auto const& reply = replies[i];
            if (reply.has_error()) {
                reports[wave[i].service].failure = reply.error();
                continue;
            }
            for (auto const& removed : reply->removed) {
                reports[wave[i].service].removed.push_back(removed.id);
                events.push_back(removal(wave[i].service, removed, reply->now));
            }
            if (reply->more) {
                auto& next = pending.emplace_back(wave[i]);
                next.skip += reply->kept;
            }
        }
        co_await publish_changes(scripts_, events, deadline);
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
