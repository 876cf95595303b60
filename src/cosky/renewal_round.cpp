#include "cosky/renewal_round.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <utility>

#include "cosky/instance_reader.hpp"

namespace rollcall::cosky {

std::string made_persistent(std::string_view id, bool reclaimed) {
    std::string text{"somebody made "};
    text.append(id).append(" persistent: ");
    text.append(reclaimed ? "registering it again as ephemeral" : "it is renewed no more");
    return text;
}

Task<void> read_again(DiscoveryRedisScripts const& scripts, OwnInstances& own,
                      OwnInstances::Entry entry, Deadline deadline) {
    InstanceReader reader{scripts};
    InstanceId const names{entry.instance->service_name, entry.id.instance_id};
    auto const read = co_await reader.one(entry.id.ns, names, deadline);
    if (read.has_value() && *read) own.settle(entry, (*read)->found.instance);
}

struct RenewalRound::Batch {
    struct Held {
        Lanes::Pass pass;
        OwnInstances::Operation operation;
        std::size_t entry;
    };

    std::vector<RegisterCall> calls = {};
    std::vector<Held> held = {};  // One for each call.
};

RenewalRound::Outcome RenewalRound::run_all(Entries entries) {
    auto& core = scripts_.core();
    auto const end = after(std::max(settings_.limit, core.request_timeout()));
    Outcome outcome;
    outcome.renewals.assign(entries.size(), Renewal::failed);
    for (auto& asked = outcome.asked; asked < entries.size();) {
        auto const wave = entries.subspan(asked, std::min(entries.size() - asked, settings_.wave));
        auto const renewals = core.run([&] { return run(wave, std::min(core.deadline(), end)); });
        if (renewals.has_error()) {
            log_failure(renewals.error().detail());
            break;
        }
        std::copy(renewals->begin(), renewals->end(),
                  outcome.renewals.begin() + static_cast<std::ptrdiff_t>(asked));
        asked += wave.size();
        if (std::chrono::steady_clock::now() >= end) break;
    }
    if (auto const left = entries.size() - outcome.asked; left > 0) {
        scripts_.core().log().write(LogLevel::warning, "renew-late",
                                    std::to_string(left) + " of " + std::to_string(entries.size()) +
                                        " instances were not renewed in time; the next round "
                                        "begins with them");
    }
    return outcome;
}

RenewalRound::Plan RenewalRound::plan(Entries entries) const {
    Plan plan;
    std::map<std::string_view, std::size_t> open;  // Call with room for a namespace.
    for (std::size_t i = 0; i < entries.size(); ++i) {
        auto const& id = entries[i].id;
        auto const [at, fresh] = open.try_emplace(id.ns, plan.calls.size());
        if (fresh || plan.calls[at->second].ids.size() == DiscoveryRedisScripts::max_renewals) {
            at->second = plan.calls.size();
            auto& call = plan.calls.emplace_back();
            call.ns = id.ns;
            call.lease = settings_.lease;
            call.tolerance = settings_.tolerance;
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
        case Lease::persistent: {
            auto const current = own_.find(entry.id);
            bool const reclaim = settings_.reclaim && !(current && current->perhaps_persistent);
            scripts_.core().log().write(LogLevel::warning, "made-persistent",
                                        made_persistent(entry.id.instance_id, reclaim));
            renewal = reclaim ? Renewal::reclaimed : Renewal::released;
            if (!reclaim) own_.erase(entry);
            return reclaim;
        }
        case Lease::wrong_type:
            log_failure("the key of " + entry.id.instance_id +
                        ", or the list of its service, has another type");
            break;
        case Lease::refused:  // Of all that are, the first is told.
            break;
    }
    return false;
}

void RenewalRound::add(Batch& batch, Entries entries, std::size_t i, Lanes::Pass pass,
                       Renewals& renewals) {
    auto operation = own_.registration_again(entries[i]);
    // As it is described now: the entry may have been described anew since the round began.
    auto const current = operation ? own_.find(entries[i].id) : std::nullopt;
    if (!current) {
        renewals[i] = Renewal::removed;
        return;
    }
    auto& call = batch.calls.emplace_back();
    call.ns = entries[i].id.ns;
    call.instance = *current->instance;
    call.lease = settings_.lease;
    batch.held.push_back({std::move(pass), *std::move(operation), i});
}

Task<void> RenewalRound::send(Batch& batch, Renewals& renewals, Deadline deadline) {
    if (batch.calls.empty()) co_return;
    auto const outcomes = co_await scripts_.registry_register(batch.calls, deadline);
    auto const now = std::chrono::steady_clock::now();
    for (std::size_t c = 0; c < outcomes.size(); ++c) {
        auto const& held = batch.held[c];
        auto& renewal = renewals[held.entry];
        auto stored = std::make_shared<ServiceInstance const>(std::move(batch.calls[c].instance));
        if (outcomes[c].has_error()) {
            auto const& failure = outcomes[c].error();
            if (is_unanswered(failure)) own_.doubt(held.operation, std::move(stored));
            renewal = Renewal::failed;
            log_failure(failure.detail());
        } else if (!own_.keep(held.operation, std::move(stored), now)) {
            renewal = Renewal::removed;
        }
    }
}

Task<void> RenewalRound::register_again(Entries entries, std::span<std::size_t const> lost,
                                        Renewals& renewals, Deadline deadline) {
    // One that has to wait holds nothing meanwhile, so that nobody waits for it.
    std::vector<std::size_t> busy;
    {
        Batch batch;
        for (auto const i : lost) {
            if (auto pass = lanes_.try_enter(entries[i].id)) {
                add(batch, entries, i, *std::move(pass), renewals);
            } else {
                busy.push_back(i);
            }
        }
        co_await send(batch, renewals, deadline);
    }
    for (auto const i : busy) {
        auto pass = co_await lanes_.enter(entries[i].id, deadline);
        if (!pass) {
            renewals[i] = Renewal::failed;
            log_failure("an earlier operation on " + entries[i].id.instance_id + " goes on");
            continue;
        }
        Batch batch;
        add(batch, entries, i, *std::move(pass), renewals);
        co_await send(batch, renewals, deadline);
    }
}

Task<void> RenewalRound::read_unsure(Entries entries, Renewals const& renewals, Deadline deadline) {
    for (std::size_t i = 0; i < entries.size(); ++i) {
        if (!entries[i].unsure || renewals[i] != Renewal::renewed) continue;
        auto const pass = co_await lanes_.enter(entries[i].id, deadline);
        if (!pass) co_return;
        auto current = own_.find(entries[i].id);
        if (!current || !current->unsure) continue;
        co_await read_again(scripts_, own_, *std::move(current), deadline);
    }
}

Task<Result<std::vector<Renewal>>> RenewalRound::run(Entries entries, Deadline deadline) {
    Renewals renewals(entries.size(), Renewal::failed);
    auto const plan = this->plan(entries);
    auto const replies = co_await scripts_.registry_renew_batch(plan.calls, deadline);
    auto const unanswered = std::count_if(replies.begin(), replies.end(), [](auto const& reply) {
        return reply.has_error() && is_unanswered(reply.error());
    });
    if (unanswered > 0 && static_cast<std::size_t>(unanswered) == replies.size()) {
        co_return replies.front().error();
    }
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
    co_await read_unsure(entries, renewals, deadline);
    co_return renewals;
}

void RenewalRound::log_failure(std::string_view what) const {
    scripts_.core().log().write(LogLevel::warning, "renew",
                                "a renewal failed: " + std::string{what});
}

}  // namespace rollcall::cosky
