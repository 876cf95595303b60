#include "streaming/registry_lua_script_executor.hpp"

#include <array>
#include <charconv>

#include "registry/exchange.hpp"
#include "streaming/event_text.hpp"
#include "streaming/scripts.hpp"
#include "streaming/service_keys.hpp"

#include "rollcall/streaming/instance_entry_codec.hpp"

namespace rollcall::streaming {
namespace {

using redis::Request;
using redis::Value;
using Common = RegistryLuaScriptExecutor::Common;

// Script calls that travel in one request: enough to make round trips cheap, few enough that other
// requests on the connection are not held up for long.
constexpr std::size_t calls_per_request = 32;

std::string text_of(GivenTime const& now) { return now ? std::to_string(now->count()) : ""; }

std::string subject(std::string_view verb, std::string_view service, std::string_view id = {}) {
    std::string text{verb};
    text.append(" ").append(service);
    if (!id.empty()) text.append("/").append(id);
    return text;
}

Failure odd_reply(std::string what) {
    return {errc::unexpected_reply, std::move(what) + ": the script's reply has another shape"};
}

HashFields fields_of(Value hash) {
    HashFields fields;
    fields.reserve(hash.size() / 2);
    for (auto at = hash.begin(); at != hash.end(); ++at) {
        std::string name{(*at).text()};
        if (++at == hash.end()) break;
        fields.emplace_back(std::move(name), (*at).text());
    }
    return fields;
}

/// A script call: how its arguments are sent and its reply is read.
template <class Call>
struct Traits;

struct Announced {
    Written written;
    std::string_view refused;
};

Announced read_announced(Value reply) {
    Announced result;
    result.written.existed = reply[0].integer() == 1;
    auto const sent = reply[1];
    if (sent.integer() != 1) {
        result.written.announced = false;
        result.refused = sent.text();
    }
    return result;
}

template <>
struct Traits<RegisterCall> {
    using Reply = Written;
    static void push(Request& request, Common const& common, RegisterCall const& call) {
        ServiceKeys const keys{common.prefix, call.service};
        auto const heartbeats = keys.heartbeats();
        auto const instance = keys.instance(call.id);
        auto const channel = keys.changes();
        auto const now = text_of(call.now);
        std::array<std::string_view, 3> const key_list{common.index, heartbeats, instance};
        std::array<std::string_view, 7> const arguments{
            call.service, call.id, now, call.document, common.ttl, channel, call.event_tail};
        request.push_script(scripts::register_instance, key_list, arguments);
    }
    static Result<Written> read(RegistryLuaScriptExecutor const& executor, RegisterCall const& call,
                                Value reply) {
        if (reply.is_error()) {
            return redis::failure_of(reply, subject("register", call.service, call.id));
        }
        if (reply.size() != 2) return odd_reply(subject("register", call.service, call.id));
        auto const result = read_announced(reply);
        if (!result.written.announced) executor.note_refused(call.service, result.refused);
        return result.written;
    }
};

template <>
struct Traits<DeregisterCall> {
    using Reply = Written;
    static void push(Request& request, Common const& common, DeregisterCall const& call) {
        ServiceKeys const keys{common.prefix, call.service};
        auto const heartbeats = keys.heartbeats();
        auto const instance = keys.instance(call.id);
        auto const channel = keys.changes();
        auto const now = text_of(call.now);
        std::array<std::string_view, 3> const key_list{common.index, heartbeats, instance};
        std::array<std::string_view, 5> const arguments{call.service, call.id, now, channel,
                                                        call.event_tail};
        request.push_script(scripts::deregister_instance, key_list, arguments);
    }
    static Result<Written> read(RegistryLuaScriptExecutor const& executor,
                                DeregisterCall const& call, Value reply) {
        if (reply.is_error()) {
            return redis::failure_of(reply, subject("deregister", call.service, call.id));
        }
        if (reply.size() != 2) return odd_reply(subject("deregister", call.service, call.id));
        auto const result = read_announced(reply);
        if (!result.written.announced) executor.note_refused(call.service, result.refused);
        return result.written;
    }
};

template <>
struct Traits<HeartbeatCall> {
    using Reply = HeartbeatReply;
    static void push(Request& request, Common const& common, HeartbeatCall const& call) {
        ServiceKeys const keys{common.prefix, call.service};
        auto const channel = keys.changes();
        auto const now = text_of(call.now);
        std::vector<std::string> key_texts{keys.heartbeats()};
        key_texts.reserve(call.entries.size() + 1);
        std::vector<std::string_view> arguments{
            now, common.ttl, call.describing ? "metadata_update" : "heartbeat_only", channel};
        for (auto const& entry : call.entries) {
            key_texts.push_back(keys.instance(entry.id));
            arguments.push_back(entry.id);
            if (!call.describing) continue;
            arguments.push_back(entry.metadata);
            arguments.push_back(entry.event_tail);
        }
        std::vector<std::string_view> const key_list{key_texts.begin(), key_texts.end()};
        request.push_script(scripts::heartbeat_update, key_list, arguments);
    }
    static Result<HeartbeatReply> read(RegistryLuaScriptExecutor const& executor,
                                       HeartbeatCall const& call, Value reply) {
        if (reply.is_error()) return redis::failure_of(reply, subject("heartbeat", call.service));
        if (reply.size() < call.entries.size()) {
            return odd_reply(subject("heartbeat", call.service));
        }
        HeartbeatReply result;
        result.beats.reserve(call.entries.size());
        for (auto const value : reply) {
            if (result.beats.size() == call.entries.size()) {
                result.announced = false;
                executor.note_refused(call.service, value.text());
                break;
            }
            auto const code = value.integer();
            result.beats.push_back(code == 1   ? Beat::written
                                   : code == 0 ? Beat::gone
                                               : Beat::wrong_type);
        }
        return result;
    }
};

template <>
struct Traits<CleanupCall> {
    using Reply = CleanupReply;
    static void push(Request& request, Common const& common, CleanupCall const& call) {
        auto const heartbeats = ServiceKeys{common.prefix, call.service}.heartbeats();
        auto const now = text_of(call.now);
        auto const timeout = std::to_string(call.timeout.count());
        auto const skip = std::to_string(call.skip);
        auto const limit = std::to_string(RegistryLuaScriptExecutor::cleanup_candidates);
        std::array<std::string_view, 2> const key_list{heartbeats, common.index};
        std::array<std::string_view, 6> const arguments{call.service,  now,  timeout,
                                                        common.prefix, skip, limit};
        request.push_script(scripts::cleanup_expired, key_list, arguments);
    }
    static Result<CleanupReply> read(RegistryLuaScriptExecutor const&, CleanupCall const& call,
                                     Value reply) {
        if (reply.is_error()) return redis::failure_of(reply, subject("cleanup", call.service));
        if (reply.size() < 2) return odd_reply(subject("cleanup", call.service));
        CleanupReply result;
        auto at = reply.begin();
        result.now = Milliseconds{(*at++).integer()};
        result.kept = static_cast<std::size_t>((*at++).integer());
        while (at != reply.end()) {
            auto& removed = result.removed.emplace_back();
            removed.id = (*at++).text();
            if (at != reply.end()) removed.snapshot = fields_of(*at++);
        }
        result.more =
            result.kept + result.removed.size() >= RegistryLuaScriptExecutor::cleanup_candidates;
        return result;
    }
};

template <>
struct Traits<UpdateCall> {
    using Reply = UpdateReply;
    static void push(Request& request, Common const& common, UpdateCall const& call) {
        auto const instance = ServiceKeys{common.prefix, call.service}.instance(call.id);
        auto const now = text_of(call.now);
        std::array<std::string_view, 1> const key_list{instance};
        std::vector<std::string_view> arguments{now, call.expected_metadata ? "1" : "0", ""};
        if (call.expected_metadata) arguments.back() = *call.expected_metadata;
        for (auto const& [name, value] : call.fields) {
            arguments.push_back(name);
            arguments.push_back(value);
        }
        request.push_script(scripts::update_instance, key_list, arguments);
    }
    static Result<UpdateReply> read(RegistryLuaScriptExecutor const&, UpdateCall const& call,
                                    Value reply) {
        if (reply.is_error()) {
            return redis::failure_of(reply, subject("update", call.service, call.id));
        }
        if (reply.size() != 4) return odd_reply(subject("update", call.service, call.id));
        UpdateReply result;
        result.existed = reply[0].integer() == 1;
        result.written = reply[1].integer() == 1;
        result.now = Milliseconds{reply[2].integer()};
        result.hash = fields_of(reply[3]);
        return result;
    }
};

template <class Call>
Task<std::vector<Result<typename Traits<Call>::Reply>>> execute_all(
    RegistryLuaScriptExecutor const& executor, Common const& common, std::span<Call const> calls,
    Deadline deadline) {
    auto const exchanges = std::make_shared<Exchanges>();
    exchanges->reserve((calls.size() + calls_per_request - 1) / calls_per_request);
    for (std::size_t i = 0; i < calls.size(); ++i) {
        if (i % calls_per_request == 0) exchanges->emplace_back();
        Traits<Call>::push(exchanges->back().request, common, calls[i]);
    }
    co_await exec_all(executor.core().session(), exchanges, deadline);
    std::vector<Result<typename Traits<Call>::Reply>> results;
    results.reserve(calls.size());
    for (std::size_t i = 0; i < calls.size(); ++i) {
        auto const& exchange = (*exchanges)[i / calls_per_request];
        if (exchange.failure) {
            results.emplace_back(*exchange.failure);
        } else {
            results.push_back(
                Traits<Call>::read(executor, calls[i], exchange.response[i % calls_per_request]));
        }
    }
    co_return results;
}

template <class Call>
Task<Result<typename Traits<Call>::Reply>> execute_one(RegistryLuaScriptExecutor const& executor,
                                                       Common const& common, Call const& call,
                                                       Deadline deadline) {
    Request request;
    redis::Response response;
    Traits<Call>::push(request, common, call);
    auto const outcome = co_await executor.core().session().exec(request, response, deadline);
    if (outcome.has_error()) co_return outcome.error();
    co_return Traits<Call>::read(executor, call, response[0]);
}

}  // namespace

RegisterCall register_call(ServiceInstance const& validated) {
    RegisterCall call;
    call.service = validated.service_name;
    call.id = validated.instance_id;
    call.document = InstanceEntryCodec::build_instance_data(validated);
    call.event_tail = event_tail(call.service, call.id, &validated);
    return call;
}

double score_of(std::string_view text) noexcept {
    double score = 0;
    std::from_chars(text.data(), text.data() + text.size(), score);
    return score;
}

RegistryLuaScriptExecutor::RegistryLuaScriptExecutor(std::shared_ptr<redis::ClientCore> core,
                                                     RegistryKeys keys, std::chrono::seconds lease)
    : core_(std::move(core)),
      keys_(std::move(keys)),
      lease_(lease),
      common_{keys_.prefix(), keys_.services_index(), std::to_string(lease.count())} {}

Task<Result<Written>> RegistryLuaScriptExecutor::execute_register(RegisterCall const& call,
                                                                  Deadline deadline) const {
    return execute_one(*this, common_, call, deadline);
}

Task<std::vector<Result<Written>>> RegistryLuaScriptExecutor::execute_register(
    std::span<RegisterCall const> calls, Deadline deadline) const {
    return execute_all(*this, common_, calls, deadline);
}

Task<Result<Written>> RegistryLuaScriptExecutor::execute_deregister(DeregisterCall const& call,
                                                                    Deadline deadline) const {
    return execute_one(*this, common_, call, deadline);
}

Task<std::vector<Result<HeartbeatReply>>> RegistryLuaScriptExecutor::execute_heartbeat_update(
    std::span<HeartbeatCall const> calls, Deadline deadline) const {
    return execute_all(*this, common_, calls, deadline);
}

Task<std::vector<Result<CleanupReply>>>
RegistryLuaScriptExecutor::execute_cleanup_expired_instances_with_snapshots(
    std::span<CleanupCall const> calls, Deadline deadline) const {
    return execute_all(*this, common_, calls, deadline);
}

Task<Result<UpdateReply>> RegistryLuaScriptExecutor::execute_update(UpdateCall const& call,
                                                                    Deadline deadline) const {
    return execute_one(*this, common_, call, deadline);
}

Task<Result<Members>> RegistryLuaScriptExecutor::members(Request const& request,
                                                         std::string const& service,
                                                         Deadline deadline) const {
    redis::Response response;
    auto const outcome = co_await core_->session().exec(request, response, deadline);
    if (outcome.has_error()) co_return outcome.error();
    auto const reply = response[0];
    if (reply.is_error()) co_return redis::failure_of(reply, subject("query", service));
    if (reply.size() % 2 != 1) co_return odd_reply(subject("query", service));
    Members result;
    result.list.reserve(reply.size() / 2);
    auto at = reply.begin();
    result.now = Milliseconds{(*at++).integer()};
    while (at != reply.end()) {
        auto& member = result.list.emplace_back();
        member.id = (*at++).text();
        member.heartbeat = score_of((*at++).text());
    }
    co_return result;
}

Task<Result<Members>> RegistryLuaScriptExecutor::execute_active_instances(
    std::string const& service, Milliseconds timeout, Deadline deadline, GivenTime now) const {
    auto const heartbeats = ServiceKeys{common_.prefix, service}.heartbeats();
    auto const now_text = text_of(now);
    auto const timeout_text = std::to_string(timeout.count());
    std::array<std::string_view, 1> const keys{heartbeats};
    std::array<std::string_view, 2> const arguments{now_text, timeout_text};
    Request request;
    request.push_script(scripts::active_instances, keys, arguments);
    co_return co_await members(request, service, deadline);
}

Task<Result<Members>> RegistryLuaScriptExecutor::execute_get_instances_by_filters(
    std::string const& service, Milliseconds timeout, std::string const& filters, Deadline deadline,
    GivenTime now) const {
    auto const heartbeats = ServiceKeys{common_.prefix, service}.heartbeats();
    auto const now_text = text_of(now);
    auto const timeout_text = std::to_string(timeout.count());
    std::array<std::string_view, 1> const keys{heartbeats};
    std::array<std::string_view, 5> const arguments{common_.prefix, service, now_text, timeout_text,
                                                    filters};
    Request request;
    request.push_script(scripts::query_instances, keys, arguments);
    co_return co_await members(request, service, deadline);
}

Task<Result<bool>> RegistryLuaScriptExecutor::execute_sweep_lease(std::string const& token,
                                                                  Milliseconds hold,
                                                                  Deadline deadline) const {
    auto const key = common_.prefix + ":rollcall:sweep";
    auto const hold_text = std::to_string(hold.count());
    std::array<std::string_view, 1> const keys{key};
    std::array<std::string_view, 2> const arguments{token, hold_text};
    Request request;
    redis::Response response;
    request.push_script(scripts::sweep_lease, keys, arguments);
    auto const outcome = co_await core_->session().exec(request, response, deadline);
    if (outcome.has_error()) co_return outcome.error();
    if (response[0].is_error()) co_return redis::failure_of(response[0], "take the sweeping lease");
    co_return response[0].integer() == 1;
}

Task<Result<bool>> RegistryLuaScriptExecutor::execute_remove_phantom(std::string const& service,
                                                                     std::string const& id,
                                                                     Deadline deadline) const {
    ServiceKeys const names{common_.prefix, service};
    auto const heartbeats = names.heartbeats();
    auto const instance = names.instance(id);
    std::array<std::string_view, 3> const keys{common_.index, heartbeats, instance};
    std::array<std::string_view, 2> const arguments{service, id};
    Request request;
    redis::Response response;
    request.push_script(scripts::remove_phantom, keys, arguments);
    auto const outcome = co_await core_->session().exec(request, response, deadline);
    if (outcome.has_error()) co_return outcome.error();
    if (response[0].is_error()) {
        co_return redis::failure_of(response[0], subject("remove phantom", service, id));
    }
    co_return response[0].integer() == 1;
}

void RegistryLuaScriptExecutor::note_refused(std::string_view service, std::string_view why) const {
    bool const channel = why.find("channel") != std::string_view::npos;
    std::string text{"done, but not announced on channel "};
    text.append(ServiceKeys{common_.prefix, service}.changes()).append(": the user lacks the ACL ");
    text.append(channel ? "rule &" + common_.prefix + ":services:*:changes" : "rule +publish");
    text.append(" (").append(why).append(")");
    core_->log().write(LogLevel::warning, "not-announced", text);
}

}  // namespace rollcall::streaming
