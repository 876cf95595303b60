#include "streaming/heartbeat_batch.hpp"

#include <algorithm>
#include <stdexcept>

#include "streaming/event_text.hpp"

#include "rollcall/streaming/instance_entry_codec.hpp"

namespace rollcall::streaming {
namespace {

// Of descriptions in one script call: bounds how long it keeps Redis busy.
constexpr std::size_t max_call_size = 256 * 1'024;

// Of a batch: bounds its memory, and how long it keeps a caller from looking at the clock.
constexpr std::size_t max_heartbeats = 16'384;
constexpr std::size_t max_described = 2 * 1'024 * 1'024;

}  // namespace

void OwnInstances::put(ServiceInstance const& validated) {
    std::lock_guard const lock{mutex_};
    instances_.insert_or_assign(Key{validated.service_name, validated.instance_id}, validated);
}

void OwnInstances::describe(std::string const& service, std::string const& id,
                            Metadata const& metadata) {
    std::lock_guard const lock{mutex_};
    auto const at = instances_.find(Key{service, id});
    if (at != instances_.end()) at->second.metadata = metadata;
}

void OwnInstances::erase(std::string const& service, std::string const& id) {
    std::lock_guard const lock{mutex_};
    instances_.erase(Key{service, id});
}

std::optional<ServiceInstance> OwnInstances::find(std::string const& service,
                                                  std::string const& id) const {
    std::lock_guard const lock{mutex_};
    auto const at = instances_.find(Key{service, id});
    if (at == instances_.end()) return std::nullopt;
    return at->second;
}

void HeartbeatBatch::fail(std::string_view why) {
    log_.write(LogLevel::warning, "heartbeat", "a heartbeat failed: " + std::string{why});
}

void HeartbeatBatch::prepare(std::span<ServiceInstance const> instances) {
    auto const most = std::min(instances.size(), max_heartbeats);
    results_.reserve(most);
    while (results_.size() < most && described_ < max_described) {
        auto const& instance = instances[results_.size()];
        results_.push_back(HeartbeatResult::failed);
        try {
            add(results_.size() - 1, instance);
        } catch (std::invalid_argument const& error) {
            fail(error.what());
        }
    }
}

void HeartbeatBatch::add(std::size_t position, ServiceInstance const& given) {
    auto const names = stored_names(given);
    auto decision = states_.decide(names.service, names.id, given.metadata, now_);
    HeartbeatCall::Entry entry;
    entry.id = names.id;
    if (decision == UpdateDecision::metadata_update && !describe(given, names, entry)) {
        decision = states_.decide(names.service, names.id, now_);
    }
    if (decision == UpdateDecision::no_update) {
        results_[position] = HeartbeatResult::not_due;
        return;
    }
    bool const describing = decision == UpdateDecision::metadata_update;
    Beating beating;
    beating.position = position;
    beating.decision = decision;
    if (describing) beating.metadata = given.metadata;
    described_ += entry.metadata.size() + entry.event_tail.size();
    auto const call = call_for(names.service, describing, entry.metadata.size());
    calls_[call].entries.push_back(std::move(entry));
    beating_[call].push_back(std::move(beating));
}

/// False for a description that may not be stored: what lives must not expire because of what it
/// says of itself.
bool HeartbeatBatch::describe(ServiceInstance const& given, InstanceNames const& names,
                              HeartbeatCall::Entry& entry) const {
    try {
        auto const described = description(given, names);
        entry.metadata = InstanceEntryCodec::metadata_json(described.metadata);
        entry.event_tail = event_tail(names.service, names.id, &described);
        return true;
    } catch (std::invalid_argument const& error) {
        log_.write(LogLevel::warning, "description",
                   "the new description of " + names.service + "/" + names.id +
                       " is left out of its heartbeats: " + error.what());
        return false;
    }
}

/// What an announcement tells of an instance whose metadata changed. Callers need not repeat in a
/// heartbeat where the instance is.
ServiceInstance HeartbeatBatch::description(ServiceInstance const& given,
                                            InstanceNames const& names) const {
    auto result = given;
    if (auto own = given.host.empty() ? own_.find(names.service, names.id) : std::nullopt) {
        result = *std::move(own);
        result.metadata = given.metadata;
    }
    return InstanceEntryCodec::validated(result);
}

std::size_t HeartbeatBatch::call_for(std::string const& service, bool describing,
                                     std::size_t size) {
    auto const [at, fresh] = open_.try_emplace({service, describing});
    auto& [call, bytes] = at->second;
    if (fresh || calls_[call].entries.size() == RegistryLuaScriptExecutor::max_heartbeats ||
        bytes + size > max_call_size) {
        call = calls_.size();
        bytes = 0;
        auto& added = calls_.emplace_back();
        added.service = service;
        added.describing = describing;
        beating_.emplace_back();
    }
    bytes += size;
    return call;
}

void HeartbeatBatch::written(std::string const& service, std::string const& id,
                             Beating const& beating) {
    states_.mark_written(service, id, beating.decision, beating.metadata, now_);
    if (beating.decision == UpdateDecision::metadata_update) {
        own_.describe(service, id, beating.metadata);
        results_[beating.position] = HeartbeatResult::metadata_updated;
    } else {
        results_[beating.position] = HeartbeatResult::alive;
    }
}

std::vector<ServiceInstance> HeartbeatBatch::take(std::span<Result<HeartbeatReply> const> replies,
                                                  bool reregister) {
    std::vector<ServiceInstance> lost;
    for (std::size_t c = 0; c < calls_.size(); ++c) {
        if (replies[c].has_error()) {
            fail(replies[c].error().detail());
            continue;
        }
        for (std::size_t e = 0; e < beating_[c].size(); ++e) {
            auto const& service = calls_[c].service;
            auto const& id = calls_[c].entries[e].id;
            auto const& beating = beating_[c][e];
            switch (replies[c]->beats[e]) {
                case Beat::written:
                    written(service, id, beating);
                    break;
                case Beat::wrong_type:
                    fail("the key of " + service + "/" + id + " is no Hash");
                    break;
                case Beat::gone:
                    auto own = reregister ? own_.find(service, id) : std::nullopt;
                    if (!own) {
                        results_[beating.position] = HeartbeatResult::gone;
                        break;
                    }
                    if (beating.decision == UpdateDecision::metadata_update) {
                        own->metadata = beating.metadata;
                    }
                    lost_.push_back(beating.position);
                    lost.push_back(*std::move(own));
                    break;
            }
        }
    }
    return lost;
}

std::vector<ServiceInstance> HeartbeatBatch::reregistered(
    std::size_t first, std::span<ServiceInstance const> instances,
    std::span<Result<Written> const> outcomes) {
    std::vector<ServiceInstance> unwanted;
    for (std::size_t i = 0; i < instances.size(); ++i) {
        if (outcomes[i].has_error()) {
            fail(outcomes[i].error().detail());
            continue;
        }
        auto const& instance = instances[i];
        if (!own_.find(instance.service_name, instance.instance_id)) {
            unwanted.push_back(instance);
            continue;
        }
        results_[lost_[first + i]] = HeartbeatResult::reregistered;
        own_.describe(instance.service_name, instance.instance_id, instance.metadata);
        states_.mark_registered(instance.service_name, instance.instance_id, instance.metadata,
                                now_);
    }
    return unwanted;
}

}  // namespace rollcall::streaming
