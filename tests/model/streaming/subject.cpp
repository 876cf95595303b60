#include "model/streaming/subject.hpp"

#include <algorithm>
#include <array>
#include <map>

#include "streaming/event_text.hpp"
#include "streaming/expiry_sweep.hpp"
#include "streaming/filter_document.hpp"
#include "streaming/service_keys.hpp"

#include "rollcall/streaming/instance_entry_codec.hpp"

namespace rollcall::test {

namespace {

using namespace streaming;

std::string failure(Failure const& what) { return what.code().message() + ": " + what.detail(); }

std::string flag(bool on) { return on ? "1" : "0"; }

std::string tail(ServiceInstance const& instance) {
    return event_tail(instance.service_name, instance.instance_id, &instance);
}

std::string joined(std::vector<std::string> const& parts) {
    std::string out;
    for (auto const& part : parts) out += (out.empty() ? "" : ", ") + part;
    return '[' + out + ']';
}

}  // namespace

Subject::Subject(std::shared_ptr<redis::ClientCore> core, std::string const& prefix)
    : core_(std::move(core)), prefix_(prefix) {
    for (auto const lease : model_leases) {
        scripts_.emplace_back(core_, RegistryKeys{prefix}, std::chrono::seconds{lease});
    }
    reader_ = std::make_unique<InstanceReader>(scripts_.front());
}

Subject::Executor const& Subject::scripts(long long lease) const {
    return *std::find_if(scripts_.begin(), scripts_.end(),
                         [&](auto const& executor) { return executor.lease().count() == lease; });
}

Task<std::string> Subject::perform(Step const& step) const {
    using Kind = Step::Kind;
    switch (step.kind) {
        case Kind::register_instances:
            co_return co_await register_instances(step);
        case Kind::deregister:
            co_return co_await deregister(step);
        case Kind::heartbeat:
        case Kind::describe:
            co_return co_await heartbeat(step);
        case Kind::cleanup:
            co_return co_await cleanup(step);
        case Kind::discover:
        case Kind::query:
            co_return co_await members(step);
        case Kind::list:
            co_return co_await list(step);
        case Kind::update:
        case Kind::remove_phantom:
            co_return co_await update(step);
        default:
            co_return co_await interfere(step);
    }
}

Task<std::string> Subject::register_instances(Step const& step) const {
    std::vector<RegisterCall> calls;
    for (auto const& instance : step.instances) {
        auto& call = calls.emplace_back();
        call.service = instance.service_name;
        call.id = instance.instance_id;
        call.document = InstanceEntryCodec::build_instance_data(instance);
        call.event_tail = tail(instance);
        call.now = Milliseconds{step.now};
    }
    auto const results = co_await scripts(step.lease).execute_register(calls, deadline());
    std::string out;
    for (auto const& result : results) {
        out += result.has_error() ? failure(result.error()) : flag(result->existed);
    }
    co_return out;
}

Task<std::string> Subject::deregister(Step const& step) const {
    auto const& instance = step.instances.at(0);
    DeregisterCall call;
    call.service = instance.service_name;
    call.id = instance.instance_id;
    call.event_tail = tail(instance);
    call.now = Milliseconds{step.now};
    auto const result = co_await scripts(step.lease).execute_deregister(call, deadline());
    co_return result.has_error() ? failure(result.error()) : flag(result->existed);
}

Task<std::string> Subject::heartbeat(Step const& step) const {
    std::vector<HeartbeatCall> calls;
    std::vector<std::size_t> places;  // Of the results, in the order of the answers.
    for (auto const service : model_services) {
        HeartbeatCall call;
        call.service = service;
        call.describing = step.kind == Step::Kind::describe;
        call.now = Milliseconds{step.now};
        for (std::size_t i = 0; i < step.instances.size(); ++i) {
            auto const& instance = step.instances[i];
            if (instance.service_name != service) continue;
            auto& entry = call.entries.emplace_back();
            entry.id = instance.instance_id;
            if (call.describing) {
                entry.metadata = InstanceEntryCodec::metadata_json(instance.metadata);
                entry.event_tail = tail(instance);
            }
            places.push_back(i);
        }
        if (!call.entries.empty()) calls.push_back(std::move(call));
    }
    auto const replies = co_await scripts(step.lease).execute_heartbeat_update(calls, deadline());
    std::map<std::size_t, std::string> results;
    auto place = places.begin();
    for (auto const& reply : replies) {
        if (reply.has_error()) co_return failure(reply.error());
        for (auto const beat : reply->beats) results[*place++] = flag(beat == Beat::written);
    }
    std::string out;
    for (auto const& [index, text] : results) out += text;
    co_return out;
}

Task<std::string> Subject::cleanup(Step const& step) const {
    auto const services = co_await reader_->services(deadline());
    if (services.has_error()) co_return failure(services.error());
    ExpirySweep sweep{scripts_.front(), *reader_};
    auto const report = co_await sweep.run_for(*services, Milliseconds{step.timeout}, deadline(),
                                               Milliseconds{step.now});
    std::string out;
    for (auto const& service : report.services) {
        if (service.failure) co_return failure(*service.failure);
        out += service.service + joined(service.removed);
    }
    co_return out;
}

Task<std::string> Subject::members(Step const& step) const {
    auto const& executor = scripts_.front();
    Milliseconds const timeout{step.timeout};
    Milliseconds const now{step.now};
    Result<Members> result = Members{};
    if (step.kind == Step::Kind::discover) {
        result = co_await executor.execute_active_instances(step.service, timeout, deadline(), now);
    } else {
        auto const document = filter_document(step.metadata_filters, step.metrics_filters);
        result = co_await executor.execute_get_instances_by_filters(step.service, timeout, document,
                                                                    deadline(), now);
    }
    if (result.has_error()) co_return failure(result.error());
    std::vector<std::string> parts;
    for (auto const& member : result->list) {
        parts.push_back(member.id + ':' + std::to_string(member.heartbeat));
    }
    co_return joined(parts);
}

Task<std::string> Subject::list(Step const& step) const {
    Filters const none;
    auto const found = co_await reader_->list(step.service, ListScope::everything, none, none,
                                              streaming::InstanceReader::Leases::told, deadline());
    if (found.has_error()) co_return failure(found.error());
    std::vector<ServiceInstance> instances;
    for (auto const& entry : *found) instances.push_back(entry.instance);
    co_return describe(instances);
}

Task<std::string> Subject::update(Step const& step) const {
    auto const& executor = scripts_.front();
    if (step.kind == Step::Kind::remove_phantom) {
        auto const removed =
            co_await executor.execute_remove_phantom(step.service, step.id, deadline());
        co_return removed.has_error() ? failure(removed.error()) : flag(*removed);
    }
    UpdateCall call;
    call.service = step.service;
    call.id = step.id;
    call.fields.assign(step.fields.begin(), step.fields.end());
    call.now = Milliseconds{step.now};
    auto const reply = co_await executor.execute_update(call, deadline());
    if (reply.has_error()) co_return failure(reply.error());
    co_return flag(reply->existed && reply->written);
}

Task<std::string> Subject::interfere(Step const& step) const {
    using Kind = Step::Kind;
    ServiceKeys const keys{prefix_, step.service};
    auto const hash = keys.instance(step.id);
    auto const heartbeats = keys.heartbeats();
    auto const index = prefix_ + ":services";
    auto const score = std::to_string(step.score);
    auto const ttl = std::to_string(short_ttl);
    redis::Request request;
    redis::Response response;
    if (step.kind == Kind::expire && step.flag) {
        request.push("PEXPIRE", {hash, "0"});
    } else if (step.kind == Kind::expire || step.kind == Kind::phantom) {
        request.push("DEL", {hash});
    } else if (step.kind == Kind::shorten_ttl) {
        request.push("EXPIRE", {hash, ttl});
    } else if (step.kind == Kind::stale_index) {
        request.push(step.flag ? "SREM" : "SADD", {index, step.service});
    } else if (step.kind == Kind::remove_field) {
        request.push("HDEL", {hash, step.field});
    }
    for (auto const& [field, value] : step.fields) request.push("HSET", {hash, field, value});
    if (step.kind == Kind::stray_member || (step.kind == Kind::phantom && step.flag)) {
        request.push("ZADD", {heartbeats, score, step.id});
    }
    auto const outcome = co_await core_->session().exec(request, response, deadline());
    if (outcome.has_error()) co_return failure(outcome.error());
    for (std::size_t i = 0; i < response.size(); ++i) {
        if (response[i].is_error()) co_return std::string{response[i].text()};
    }
    co_return std::string{};
}

}  // namespace rollcall::test
