#include "streaming/streaming_port.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "core/checks.hpp"
#include "core/text.hpp"
#include "registry/heartbeat_plan.hpp"
#include "registry/script_calls.hpp"
#include "streaming/change_publisher.hpp"
#include "streaming/event_text.hpp"
#include "streaming/examination.hpp"
#include "streaming/expiry_sweep.hpp"
#include "streaming/filter_document.hpp"
#include "streaming/instance_reader.hpp"
#include "streaming/instance_snapshot.hpp"
#include "streaming/live_reader.hpp"
#include "streaming/registry_lua_script_executor.hpp"

#include "rollcall/streaming/instance_entry_codec.hpp"

namespace rollcall::streaming {
namespace {

std::chrono::seconds whole_seconds(Milliseconds lease) {
    auto const text = std::to_string(lease.count()) + " ms";
    if (lease < std::chrono::seconds{1} || lease > max_heartbeat_timeout) {
        refuse("lease", text,
               "must be between 1 s and " + std::to_string(max_heartbeat_timeout.count()) + " s");
    }
    if (lease.count() % 1'000 != 0) refuse("lease", text, "must be whole seconds");
    return std::chrono::duration_cast<std::chrono::seconds>(lease);
}

Filters filters_of(std::vector<Condition> const& conditions) {
    Filters filters;
    filters.reserve(conditions.size());
    for (auto const& condition : conditions) {
        filters.emplace_back(filter_key(condition.field, condition.comparison), condition.value);
    }
    return filters;
}

std::string text_of(HashFields const& hash, std::string_view field) {
    for (auto const& [name, value] : hash) {
        if (name == field) return value;
    }
    return {};
}

Liveness liveness_of(Beat beat) noexcept {
    switch (beat) {
        case Beat::written:
            return Liveness::alive;
        case Beat::gone:
            return Liveness::gone;
        case Beat::wrong_type:
            return Liveness::refused;
    }
    return Liveness::failed;
}

class StreamingPort final : public LayoutPort {
public:
    StreamingPort(std::shared_ptr<redis::ClientCore> core, StreamingPortOptions const& options)
        : scripts_(std::move(core), RegistryKeys{RegistryKeys::validated_prefix(options.prefix)},
                   whole_seconds(options.lease)),
          reader_(scripts_),
          sweep_(scripts_, reader_),
          live_(scripts_, reader_) {}

    Capabilities capabilities() const noexcept override { return {true, true, true}; }

    Task<Result<Written>> register_instance(ServiceInstance const& instance,
                                            Deadline deadline) override;
    ServiceInstance validated(ServiceInstance const& instance) const override {
        return InstanceEntryCodec::validated(instance);
    }
    InstanceId validated(InstanceId const& id) const override;
    Task<Result<Written>> deregister_instance(InstanceId const& id, Deadline deadline) override;
    Task<Result<std::vector<Liveness>>> heartbeat(std::span<InstanceId const> ids,
                                                  Deadline deadline) override;

    Task<Result<std::vector<ServiceSummary>>> services(Deadline deadline) override {
        return reader_.summaries(deadline);
    }
    Task<Result<std::vector<Found>>> instances(Query const& query, Deadline deadline) override;
    Task<Result<std::optional<Found>>> instance(InstanceId const& id, Deadline deadline) override;
    std::size_t left_out() const noexcept override { return reader_.skipped(); }

    Task<Result<Written>> set_enabled(InstanceId const& id, bool on, Deadline deadline) override {
        return set_field(id, "enabled", on ? "true" : "false", deadline);
    }
    Task<Result<Written>> set_healthy(InstanceId const& id, bool on, Deadline deadline) override {
        return set_field(id, "healthy", on ? "true" : "false", deadline);
    }
    Task<Result<Written>> set_weight(InstanceId const& id, int weight, Deadline deadline) override;
    Task<Result<Written>> set_metadata(InstanceId const& id, Metadata const& metadata,
                                       Deadline deadline) override;
    Task<Result<Written>> merge_metadata(InstanceId const& id, Metadata const& metadata,
                                         Deadline deadline) override;

    Task<Result<SweepReport>> sweep(Deadline deadline) override {
        return sweep_.run(scripts_.lease(), deadline);
    }
    Task<Result<SweepReport>> sweep_as_leader(Milliseconds hold, Deadline deadline) override {
        return sweep_.run_as_leader(scripts_.lease(), hold, deadline);
    }
    Task<Result<void>> yield_sweeping(Deadline deadline) override { return sweep_.yield(deadline); }

    LivePort& live() noexcept override { return live_; }

    Task<Result<std::vector<Finding>>> examine(bool fix, Deadline deadline) override {
        return streaming::examine(scripts_, reader_, sweep_, fix, deadline);
    }

private:
    void tell_of_type(InstanceId const& id) const;
    static std::vector<HeartbeatCall> calls_for(std::vector<HeartbeatPlan::Group> const& groups);
    Task<Result<Written>> set_field(InstanceId const& id, std::string_view name, std::string value,
                                    Deadline deadline);
    Task<Result<Written>> announced(UpdateCall const& call, UpdateReply const& reply,
                                    Deadline deadline);
    std::string metadata_text(InstanceId const& names, Metadata const& metadata) const;

    RegistryLuaScriptExecutor scripts_;
    InstanceReader reader_;
    ExpirySweep sweep_;
    LiveReader live_;
};

InstanceId StreamingPort::validated(InstanceId const& id) const {
    return {RegistryKeys::validate_and_sanitize_service_name(id.service),
            RegistryKeys::validate_and_sanitize_instance_id(id.id)};
}

Task<Result<Written>> StreamingPort::register_instance(ServiceInstance const& instance,
                                                       Deadline deadline) {
    auto const call = register_call(validated(instance));
    co_return co_await scripts_.execute_register(call, deadline);
}

Task<Result<Written>> StreamingPort::deregister_instance(InstanceId const& id, Deadline deadline) {
    auto const names = validated(id);
    // What subscribers are told of the instance; that it may change in between harms nobody.
    auto const found = co_await reader_.one(names.service, names.id, deadline);
    if (found.has_error()) co_return found.error();
    DeregisterCall call;
    call.service = names.service;
    call.id = names.id;
    call.event_tail = event_tail(names.service, names.id, *found ? &(*found)->instance : nullptr);
    co_return co_await scripts_.execute_deregister(call, deadline);
}

std::vector<HeartbeatCall> StreamingPort::calls_for(
    std::vector<HeartbeatPlan::Group> const& groups) {
    std::vector<HeartbeatCall> calls;
    calls.reserve(groups.size());
    for (auto const& group : groups) {
        auto& call = calls.emplace_back();
        call.service = group.ids.front().service;
        for (auto const& names : group.ids) call.entries.emplace_back().id = names.id;
    }
    return calls;
}

void StreamingPort::tell_of_type(InstanceId const& id) const {
    scripts_.core().log().write(
        LogLevel::warning, "heartbeat",
        subject("heartbeat of", id.service, id.id) + ": its key has another type");
}

Task<Result<std::vector<Liveness>>> StreamingPort::heartbeat(std::span<InstanceId const> ids,
                                                             Deadline deadline) {
    HeartbeatPlan::Limits limits;
    limits.ids_in_call = RegistryLuaScriptExecutor::max_heartbeats;
    limits.one_service_a_call = true;
    HeartbeatPlan plan{ids, [this](InstanceId const& id) { return validated(id); }, limits,
                       scripts_.core().log()};
    while (plan.next_round(deadline)) {
        auto const calls = calls_for(plan.groups());
        auto const replies = co_await scripts_.execute_heartbeat_update(calls, deadline);
        for (std::size_t c = 0; c < replies.size(); ++c) {
            auto const& group = plan.groups()[c];
            if (replies[c].has_error()) {
                plan.fail(replies[c].error());
                continue;
            }
            for (std::size_t e = 0; e < group.ids.size(); ++e) {
                auto const liveness = liveness_of(replies[c]->beats[e]);
                if (liveness == Liveness::refused) tell_of_type(group.ids[e]);
                plan.tell(group, e, liveness);
            }
        }
    }
    co_return std::move(plan).finish();
}

Task<Result<std::vector<Found>>> StreamingPort::instances(Query const& query, Deadline deadline) {
    auto const service = RegistryKeys::validate_and_sanitize_service_name(query.service);
    auto const metadata = filters_of(query.metadata);
    auto const metrics = filters_of(query.metrics);
    co_return co_await reader_.list(service, query.scope, metadata, metrics,
                                    InstanceReader::Leases::told, deadline);
}

Task<Result<std::optional<Found>>> StreamingPort::instance(InstanceId const& id,
                                                           Deadline deadline) {
    auto const names = validated(id);
    co_return co_await reader_.one(names.service, names.id, deadline);
}

/// `name` is a literal.
Task<Result<Written>> StreamingPort::set_field(InstanceId const& id, std::string_view name,
                                               std::string value, Deadline deadline) {
    auto const names = validated(id);
    UpdateCall call;
    call.service = names.service;
    call.id = names.id;
    call.fields.emplace_back(name, std::move(value));
    auto const reply = co_await scripts_.execute_update(call, deadline);
    if (reply.has_error()) co_return reply.error();
    co_return co_await announced(call, *reply, deadline);
}

Task<Result<Written>> StreamingPort::announced(UpdateCall const& call, UpdateReply const& reply,
                                               Deadline deadline) {
    Written written;
    written.existed = reply.existed;
    if (!reply.written) co_return written;
    std::vector<InstanceEntryCodec::Field> const fields{reply.hash.begin(), reply.hash.end()};
    auto const stored = InstanceEntryCodec::parse_instance(call.service, call.id, fields);
    std::vector<ServiceChangeEvent> events(1);
    auto& event = events.front();
    event.action = ServiceChangeAction::updated;
    event.service_name = call.service;
    event.instance_id = call.id;
    event.timestamp = reply.now;
    if (stored) event.instance = stored->instance;
    written.announced = co_await publish_changes(scripts_, events, deadline);
    co_return written;
}

/// The JSON to store. Errors: as in registration.
std::string StreamingPort::metadata_text(InstanceId const& names, Metadata const& metadata) const {
    ServiceInstance probe;
    probe.service_name = names.service;
    probe.instance_id = names.id;
    probe.host = "localhost";
    probe.metadata = metadata;
    return InstanceEntryCodec::metadata_json(validated(probe).metadata);
}

Task<Result<Written>> StreamingPort::set_weight(InstanceId const& id, int weight,
                                                Deadline deadline) {
    check_weight(weight);
    auto text = std::to_string(weight);
    co_return co_await set_field(id, "weight", std::move(text), deadline);
}

Task<Result<Written>> StreamingPort::set_metadata(InstanceId const& id, Metadata const& metadata,
                                                  Deadline deadline) {
    auto text = metadata_text(validated(id), metadata);
    co_return co_await set_field(id, "metadata", std::move(text), deadline);
}

Task<Result<Written>> StreamingPort::merge_metadata(InstanceId const& id, Metadata const& metadata,
                                                    Deadline deadline) {
    auto const names = validated(id);
    metadata_text(names, metadata);
    // The merged text is made here, where all values become text as writers of the design have it;
    // a script would damage long numbers that others have stored. The script writes it only over
    // the text that it was made from.
    while (std::chrono::steady_clock::now() < deadline) {
        auto const stored = co_await reader_.stored(names.service, names.id, deadline);
        if (stored.has_error()) co_return stored.error();
        std::vector<InstanceEntryCodec::Field> const fields{stored->fields.begin(),
                                                            stored->fields.end()};
        auto const instance = parse_snapshot(names.service, names.id, fields);
        auto merged = instance ? instance->metadata : Metadata{};
        UpdateCall call;
        call.service = names.service;
        call.id = names.id;
        call.expected_metadata = text_of(stored->fields, "metadata");
        for (auto const& [key, value] : metadata) merged.insert_or_assign(key, value);
        call.fields.emplace_back("metadata", metadata_text(names, merged));
        auto const reply = co_await scripts_.execute_update(call, deadline);
        if (reply.has_error()) co_return reply.error();
        if (reply->written || !reply->existed) co_return co_await announced(call, *reply, deadline);
    }
    co_return Failure{errc::timeout, "others changed the metadata all the time"};
}

}  // namespace

void validate(StreamingPortOptions const& options) {
    static_cast<void>(RegistryKeys::validated_prefix(options.prefix));
    static_cast<void>(whole_seconds(options.lease));
}

std::unique_ptr<LayoutPort> make_streaming_port(std::shared_ptr<redis::ClientCore> core,
                                                StreamingPortOptions const& options) {
    return std::make_unique<StreamingPort>(std::move(core), options);
}

}  // namespace rollcall::streaming
