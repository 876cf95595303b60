#include "streaming/registry_lua_script_executor.hpp"

#include <array>
#include <charconv>

#include "registry/epoch.hpp"
#include "registry/script_calls.hpp"
#include "streaming/event_text.hpp"
#include "streaming/scripts.hpp"
#include "streaming/service_keys.hpp"

#include "rollcall/streaming/instance_entry_codec.hpp"

namespace rollcall::streaming {
namespace {

using redis::Request;
using redis::Value;
using Common = RegistryLuaScriptExecutor::Common;

std::string text_of(GivenTime const& now) { return now ? std::to_string(now->count()) : ""; }

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

/// What all scripts refer to.
struct ScriptBase {
    RegistryLuaScriptExecutor const& executor;
    Common const& common;
};

/// The reply of the scripts that store or remove one instance.
Result<Written> read_written(RegistryLuaScriptExecutor const& executor, std::string const& service,
                             std::string what, Value reply) {
    if (reply.is_error()) return redis::failure_of(reply, what);
    if (reply.size() != 2) return odd_reply(std::move(what));
    Written written;
    written.existed = reply[0].integer() == 1;
    written.announced = reply[1].integer() == 1;
    if (!written.announced) executor.note_refused(service, reply[1].text());
    return written;
}

struct RegisterScript : ScriptBase {
    using Call = RegisterCall;
    using Reply = Written;
    void push(Request& request, Call const& call) const {
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
    Result<Reply> read(Call const& call, Value reply) const {
        return read_written(executor, call.service, subject("register", call.service, call.id),
                            reply);
    }
};

struct DeregisterScript : ScriptBase {
    using Call = DeregisterCall;
    using Reply = Written;
    void push(Request& request, Call const& call) const {
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
    Result<Reply> read(Call const& call, Value reply) const {
        return read_written(executor, call.service, subject("deregister", call.service, call.id),
                            reply);
    }
};

struct HeartbeatScript : ScriptBase {
    using Call = HeartbeatCall;
    using Reply = HeartbeatReply;
    void push(Request& request, Call const& call) const {
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
    Result<Reply> read(Call const& call, Value reply) const {
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

struct CleanupScript : ScriptBase {
    using Call = CleanupCall;
    using Reply = CleanupReply;
    void push(Request& request, Call const& call) const {
        ServiceKeys const keys{common.prefix, call.service};
        auto const heartbeats = keys.heartbeats();
        auto const channel = keys.changes();
        auto const now = text_of(call.now);
        auto const timeout = std::to_string(call.timeout.count());
        auto const skip = std::to_string(call.skip);
        auto const limit = std::to_string(RegistryLuaScriptExecutor::cleanup_candidates);
        std::array<std::string_view, 2> const key_list{heartbeats, common.index};
        std::vector<std::string_view> arguments{call.service, now,  timeout, common.prefix,
                                                channel,      skip, limit};
        for (auto const& [id, tail] : call.tails) {
            arguments.push_back(id);
            arguments.push_back(tail);
        }
        request.push_script(scripts::cleanup_expired, key_list, arguments);
    }
    Result<Reply> read(Call const& call, Value reply) const {
        if (reply.is_error()) return redis::failure_of(reply, subject("cleanup", call.service));
        if (reply.size() < 4) return odd_reply(subject("cleanup", call.service));
        CleanupReply result;
        auto at = reply.begin();
        result.now = Milliseconds{(*at++).integer()};
        result.kept = static_cast<std::size_t>((*at++).integer());
        if (auto const refused = (*at++).text(); !refused.empty()) {
            executor.note_refused(call.service, refused);
        }
        for (auto const id : *at++) result.removed.emplace_back(id.text());
        while (at != reply.end()) {
            auto& untold = result.untold.emplace_back();
            untold.id = (*at++).text();
            if (at != reply.end()) untold.hash = fields_of(*at++);
        }
        result.more = result.kept + result.removed.size() + result.untold.size() >=
                      RegistryLuaScriptExecutor::cleanup_candidates;
        return result;
    }
};

struct UpdateScript : ScriptBase {
    using Call = UpdateCall;
    using Reply = UpdateReply;
    void push(Request& request, Call const& call) const {
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
    Result<Reply> read(Call const& call, Value reply) const {
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

Milliseconds bounded_time(double milliseconds) noexcept {
    constexpr auto most = static_cast<double>(for_ever.count());
    if (!(milliseconds > -most)) return -for_ever;  // Not a number, too.
    if (milliseconds >= most) return for_ever;
    return Milliseconds{static_cast<std::int64_t>(milliseconds)};
}

RegistryLuaScriptExecutor::RegistryLuaScriptExecutor(std::shared_ptr<redis::ClientCore> core,
                                                     RegistryKeys keys, std::chrono::seconds lease)
    : core_(std::move(core)),
      keys_(std::move(keys)),
      lease_(lease),
      common_{keys_.prefix(), keys_.services_index(), std::to_string(lease.count())},
      epoch_key_(epoch_key_of(keys_.prefix())),
      epochs_(std::make_shared<EpochStamps>(*core_)) {}

Task<Result<Written>> RegistryLuaScriptExecutor::execute_register(RegisterCall const& call,
                                                                  Deadline deadline) const {
    epochs_->before_write(epoch_key_);
    return execute_one(core_->session(), RegisterScript{{*this, common_}}, call, deadline);
}

Task<std::vector<Result<Written>>> RegistryLuaScriptExecutor::execute_register(
    std::span<RegisterCall const> calls, Deadline deadline) const {
    epochs_->before_write(epoch_key_);
    return execute_all(core_->session(), RegisterScript{{*this, common_}}, calls, deadline);
}

Task<Result<Written>> RegistryLuaScriptExecutor::execute_deregister(DeregisterCall const& call,
                                                                    Deadline deadline) const {
    return execute_one(core_->session(), DeregisterScript{{*this, common_}}, call, deadline);
}

Task<std::vector<Result<HeartbeatReply>>> RegistryLuaScriptExecutor::execute_heartbeat_update(
    std::span<HeartbeatCall const> calls, Deadline deadline) const {
    epochs_->before_write(epoch_key_);
    auto replies =
        co_await execute_all(core_->session(), HeartbeatScript{{*this, common_}}, calls, deadline);
    auto const lost = [](Result<HeartbeatReply> const& reply) {
        return reply.has_value() && std::ranges::count(reply->beats, Beat::gone) > 0;
    };
    if (std::ranges::any_of(replies, lost)) epochs_->doubt(epoch_key_);
    co_return replies;
}

Task<std::vector<Result<CleanupReply>>>
RegistryLuaScriptExecutor::execute_cleanup_expired_instances_with_snapshots(
    std::span<CleanupCall const> calls, Deadline deadline) const {
    return execute_all(core_->session(), CleanupScript{{*this, common_}}, calls, deadline);
}

Task<Result<UpdateReply>> RegistryLuaScriptExecutor::execute_update(UpdateCall const& call,
                                                                    Deadline deadline) const {
    return execute_one(core_->session(), UpdateScript{{*this, common_}}, call, deadline);
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
    rollcall::note_refused(core_->log(), ServiceKeys{common_.prefix, service}.changes(),
                           common_.prefix + ":services:*:changes", why);
}

}  // namespace rollcall::streaming
