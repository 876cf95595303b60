#include "cosky/renewal_round.hpp"

#include <map>
#include <optional>
#include <utility>

namespace rollcall::cosky {

std::string made_persistent(std::string_view id, bool reclaimed) {
    std::string text{"somebody made "};
    text.append(id).append(" persistent: ");
    text.append(reclaimed ? "registering it again as ephemeral" : "it is renewed no more");
    return text;
}

RenewalRound::Plan RenewalRound::plan(std::span<OwnInstances::Entry const> entries) const {
    Plan plan;
    std::map<std::string_view, std::size_t> open;  // Call with room for a namespace.
    for (std::size_t i = 0; i < entries.size(); ++i) {
        auto const& id = entries[i].id;
        auto const [at, fresh] = open.try_emplace(id.ns, plan.calls.size());
        if (fresh || plan.calls[at->second].ids.size() == DiscoveryRedisScripts::max_renewals) {
            at->second = plan.calls.size();
            auto& call = plan.calls.emplace_back();
            call.ns = id.ns;
            call.lease = lease_;
            call.tolerance = tolerance_;
            plan.entries.emplace_back();
        }
        plan.calls[at->second].ids.push_back({entries[i].instance->service_name, id.instance_id});
        plan.entries[at->second].push_back(i);
    }
    return plan;
}

bool RenewalRound::must_register(OwnInstances::Entry const& entry, Lease lease, Renewal& renewal) {
    switch (lease) {
        case Lease::renewed:
            renewal = Renewal::renewed;
            return false;
        case Lease::ending:
        case Lease::missing:
            renewal = Renewal::registered_again;
            return true;
        case Lease::persistent:
            scripts_.core().log().write(LogLevel::warning, "made-persistent",
                                        made_persistent(entry.id.instance_id, reclaim_));
            renewal = reclaim_ ? Renewal::reclaimed : Renewal::released;
            if (!reclaim_) own_.erase(entry);
            return reclaim_;
        case Lease::wrong_type:
            log_failure("the key of " + entry.id.instance_id +
                        ", or the list of its service, has another type");
            break;
        case Lease::refused:  // Of all that are, the first is told.
            break;
    }
    return false;
}

Task<void> RenewalRound::register_again(std::span<OwnInstances::Entry const> entries,
                                        std::span<std::size_t const> lost, Renewals& renewals,
                                        Deadline deadline) {
    std::vector<RegisterCall> calls;
    std::vector<std::pair<std::size_t, OwnInstances::Ticket>> tickets;
    for (auto const i : lost) {
        auto const ticket = own_.begin_again(entries[i]);
        // As it is described now: the entry may have been described anew since the round began.
        auto const current = ticket ? own_.find(entries[i].id) : std::nullopt;
        if (!current) {
            if (ticket) own_.fail(*ticket);
            renewals[i] = Renewal::removed;
            continue;
        }
        auto& call = calls.emplace_back();
        call.ns = entries[i].id.ns;
        call.instance = *current->instance;
        call.lease = lease_;
        tickets.emplace_back(i, *ticket);
    }
    auto const outcomes = co_await scripts_.registry_register(calls, deadline);
    for (std::size_t c = 0; c < calls.size(); ++c) {
        auto const [i, ticket] = tickets[c];
        if (outcomes[c].has_error()) {
            own_.fail(ticket);
            renewals[i] = Renewal::failed;
            log_failure(outcomes[c].error().detail());
            continue;
        }
        auto& stored = calls[c].instance;
        InstanceId const names{stored.service_name, stored.instance_id};
        auto kept = std::make_shared<ServiceInstance const>(std::move(stored));
        // What was undone is missing again in the next round.
        if (own_.succeed(ticket, std::move(kept)) != OwnInstances::Standing::withdrawn) continue;
        // Deregistered meanwhile, perhaps before this registration was carried out.
        renewals[i] = Renewal::removed;
        (void)co_await scripts_.registry_deregister(calls[c].ns, names, deadline);
    }
}

Task<Result<std::vector<Renewal>>> RenewalRound::run(std::span<OwnInstances::Entry const> entries,
                                                     Deadline deadline) {
    Renewals renewals(entries.size(), Renewal::failed);
    auto const plan = this->plan(entries);
    auto const replies = co_await scripts_.registry_renew_batch(plan.calls, deadline);
    std::vector<std::size_t> lost;
    for (std::size_t c = 0; c < plan.calls.size(); ++c) {
        if (replies[c].has_error()) {
            log_failure(replies[c].error().detail());
            continue;
        }
        if (replies[c]->refusal) log_failure(replies[c]->refusal->detail());
        for (std::size_t e = 0; e < plan.entries[c].size(); ++e) {
            auto const i = plan.entries[c][e];
            if (must_register(entries[i], replies[c]->leases[e], renewals[i])) lost.push_back(i);
        }
    }
    if (!lost.empty()) co_await register_again(entries, lost, renewals, deadline);
    co_return renewals;
}

void RenewalRound::log_failure(std::string_view what) const {
    scripts_.core().log().write(LogLevel::warning, "renew",
                                "a renewal failed: " + std::string{what});
}

}  // namespace rollcall::cosky
