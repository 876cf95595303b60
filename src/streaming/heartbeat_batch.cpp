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

std::vector<OwnInstances::Key> HeartbeatBatch::take(std::span<Result<HeartbeatReply> const> replies,
                                                    bool reregister) {
    std::vector<OwnInstances::Key> lost;
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
                    if (!reregister || !own_.find(service, id)) {
                        results_[beating.position] = HeartbeatResult::gone;
                        break;
                    }
                    lost.emplace_back(service, id);
                    lost_.push_back({lost.back(), &beating});
                    break;
            }
        }
    }
    return lost;
}

std::optional<ServiceInstance> HeartbeatBatch::to_register(std::size_t index) {
    auto const& [key, beating] = lost_[index];
    auto result = own_.find(key.first, key.second);
    if (!result) {
        results_[beating->position] = HeartbeatResult::gone;
        return std::nullopt;
    }
    if (beating->decision == UpdateDecision::metadata_update) result->metadata = beating->metadata;
    return result;
}

void HeartbeatBatch::reregistered(std::size_t index, ServiceInstance const& stored,
                                  Result<Written> const& outcome) {
    if (outcome.has_error()) return fail(outcome.error().detail());
    auto& result = results_[lost_[index].beating->position];
    auto const& service = stored.service_name;
    auto const& id = stored.instance_id;
    // Whoever deregistered it meanwhile waits for the lane, and removes it.
    if (!own_.find(service, id)) {
        result = HeartbeatResult::gone;
        return;
    }
    result = HeartbeatResult::reregistered;
    own_.describe(service, id, stored.metadata);
    states_.mark_registered(service, id, stored.metadata, now_);
}

void HeartbeatBatch::not_reregistered(std::size_t index) {
    auto const& [service, id] = lost_[index].key;
    fail("an earlier operation on " + service + "/" + id + " goes on");
}

}  // namespace rollcall::streaming
