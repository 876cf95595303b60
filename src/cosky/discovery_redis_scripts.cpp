#include "cosky/discovery_redis_scripts.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "cosky/scripts.hpp"
#include "registry/epoch.hpp"
#include "registry/script_calls.hpp"

#include "rollcall/cosky/discovery_key_generator.hpp"
#include "rollcall/cosky/instance_id.hpp"
#include "rollcall/cosky/service_instance_codec.hpp"

namespace rollcall::cosky {
namespace {

using redis::Request;
using redis::Value;

std::vector<std::string_view> views(std::vector<std::string> const& texts) {
    return {texts.begin(), texts.end()};
}

void note_refused(redis::ClientCore const& core, std::string_view ns, std::string_view why) {
    std::string const all{ns};
    rollcall::note_refused(core.log(),
                           DiscoveryKeyGenerator::service_idx_key(ns) + " or " +
                               DiscoveryKeyGenerator::instance_key_prefix(ns) + "…",
                           all + ":*", why);
}

/// Kotlin programs put names into the patterns that they subscribe with, unescaped (spec 17.2).
void note_patterns(redis::ClientCore const& core, std::string_view ns, std::string_view service) {
    for (auto const name : {ns, service}) {
        if (name.find_first_of("*?[]\\^") == std::string_view::npos) continue;
        core.log().write(LogLevel::warning, "glob-characters",
                         "\"" + std::string{name} +
                             "\" holds characters of a glob pattern: Kotlin programs that "
                             "subscribe to it miss its messages or hear those of others");
    }
}

/// The reply of scripts that write: a number, or that and why a message was refused.
Result<Written> read_written(redis::ClientCore const& core, std::string_view ns, std::string what,
                             Value reply) {
    if (reply.is_error()) return redis::failure_of(reply, what);
    bool const refused = reply.is_aggregate();
    if (refused && reply.size() != 2) return odd_reply(std::move(what));
    Written written;
    written.existed = (refused ? reply[0] : reply).integer() == 1;
    written.announced = !refused;
    if (refused) note_refused(core, ns, reply[1].text());
    return written;
}

// What a renewal replies for a key of another type, and what stands here for one that is a text.
constexpr std::int64_t wrong_type = -3;
constexpr std::int64_t no_number = -4;

Lease lease_of(std::int64_t reply) {
    switch (reply) {
        case 1:
            return Lease::renewed;
        case 0:
            return Lease::ending;
        case -1:
            return Lease::persistent;
        case -2:
            return Lease::missing;
        case wrong_type:
            return Lease::wrong_type;
        default:
            return Lease::refused;
    }
}

void append_pairs(std::vector<std::string>& arguments, Metadata const& metadata) {
    arguments.reserve(arguments.size() + 2 * metadata.size());
    for (auto const& [key, value] : metadata) {
        arguments.push_back(ServiceInstanceCodec::encode_metadata_key(key));
        arguments.push_back(value);
    }
}

std::vector<std::string> register_arguments(RegisterCall const& call) {
    auto const& instance = call.instance;
    std::vector<std::string> arguments{
        instance.ephemeral ? std::to_string(call.lease.count()) : "-1",
        instance.service_name,
        instance.instance_id,
        instance.scheme,
        ServiceInstanceCodec::encode_host(instance.host),
        std::to_string(instance.port),
        std::to_string(instance.weight)};
    append_pairs(arguments, instance.metadata);
    return arguments;
}

struct RegisterScript {
    redis::ClientCore const& core;
    bool telling = false;  ///< Whether an instance was described there.

    using Call = RegisterCall;
    using Reply = Written;
    void push(Request& request, Call const& call) const {
        note_patterns(core, call.ns, call.instance.service_name);
        auto const arguments = register_arguments(call);
        auto const key = DiscoveryKeyGenerator::instance_key(call.ns, call.instance.instance_id);
        std::string_view const keys[] = {call.ns, key};
        request.push_script(scripts::registry_register, std::span{keys}.first(telling ? 2 : 1),
                            views(arguments));
    }
    Result<Reply> read(Call const& call, Value reply) const {
        return read_written(
            core, call.ns,
            subject("register", call.instance.service_name, call.instance.instance_id), reply);
    }
};

struct RenewScript {
    redis::ClientCore const& core;

    using Call = RenewCall;
    using Reply = RenewReply;
    void push(Request& request, Call const& call) const {
        auto const lease = std::to_string(call.lease.count());
        auto const tolerance = std::to_string(call.tolerance.count());
        std::vector<std::string_view> arguments{lease, tolerance};
        for (auto const& [service, id] : call.ids) {
            arguments.emplace_back(service);
            arguments.emplace_back(id);
        }
        std::string_view const keys[] = {call.ns};
        request.push_script(scripts::registry_renew_batch, keys, arguments);
    }
    Result<Reply> read(Call const& call, Value reply) const {
        if (reply.is_error()) return redis::failure_of(reply, subject("renew in", call.ns));
        if (reply.size() < call.ids.size()) return odd_reply(subject("renew in", call.ns));
        RenewReply result;
        result.leases.reserve(call.ids.size());
        for (auto const value : reply) {
            if (result.leases.size() == call.ids.size()) {
                result.announced = false;
                note_refused(core, call.ns, value.text());
                break;
            }
            auto const lease = lease_of(value.integer(no_number));
            if (lease == Lease::refused && !result.refusal) {
                result.refusal = redis::failure_of(value, subject("renew in", call.ns));
            }
            result.leases.push_back(lease);
        }
        return result;
    }
};

struct ExpireScript {
    redis::ClientCore const& core;

    using Call = ExpireCall;
    using Reply = std::vector<std::string>;
    void push(Request& request, Call const& call) const {
        std::vector<std::string_view> arguments{call.service,
                                                call.unannounced == Unannounced::kept ? "1" : "0"};
        arguments.insert(arguments.end(), call.ids.begin(), call.ids.end());
        std::string_view const keys[] = {call.ns};
        request.push_script(scripts::discovery_expire, keys, arguments);
    }
    Result<Reply> read(Call const& call, Value reply) const {
        if (reply.is_error()) return redis::failure_of(reply, subject("clean up", call.service));
        if (auto const list = reply[0]; list.is_aggregate()) {
            auto const why = reply[1].text();
            if (call.unannounced == Unannounced::kept) {
                return Failure{errc::access_denied, subject("announce expiry in", call.service) +
                                                        ": " + std::string{why}};
            }
            note_refused(core, call.ns, why);
            reply = list;
        }
        Reply removed;
        for (auto const id : reply) removed.emplace_back(id.text());
        return removed;
    }
};

}  // namespace

Task<Result<redis::Response>> DiscoveryRedisScripts::run(redis::Script const& script,
                                                         std::string const& ns,
                                                         std::vector<std::string> arguments,
                                                         std::string what, Deadline deadline,
                                                         std::string second_key) const {
    Request request;
    redis::Response response;
    std::string_view const keys[] = {ns, second_key};
    auto const argument_views = views(arguments);
    request.push_script(script, std::span{keys}.first(second_key.empty() ? 1 : 2), argument_views);
    auto const outcome = co_await core_->session().exec(request, response, deadline);
    if (outcome.has_error()) co_return outcome.error();
    if (response[0].is_error()) co_return redis::failure_of(response[0], what);
    co_return response;
}

Task<Result<Written>> DiscoveryRedisScripts::write(redis::Script const& script,
                                                   std::string const& ns,
                                                   std::vector<std::string> arguments,
                                                   std::string what, Deadline deadline,
                                                   std::string second_key) const {
    auto const response =
        co_await run(script, ns, std::move(arguments), what, deadline, std::move(second_key));
    if (response.has_error()) co_return response.error();
    auto written = read_written(*core_, ns, std::move(what), (*response)[0]);
    if (written.has_value()) written->repeated = response->repeated();
    co_return written;
}

Task<Result<Written>> DiscoveryRedisScripts::registry_register(RegisterCall const& call,
                                                               Deadline deadline) const {
    epochs_->before_write(epoch_key_of(call.ns));
    return execute_one(core_->session(), RegisterScript{*core_}, call, deadline);
}

Task<std::vector<Result<Written>>> DiscoveryRedisScripts::registry_register(
    std::span<RegisterCall const> calls, Deadline deadline) const {
    for (auto const& call : calls) epochs_->before_write(epoch_key_of(call.ns));
    return execute_all(core_->session(), RegisterScript{*core_}, calls, deadline);
}

Task<Result<Written>> DiscoveryRedisScripts::register_telling(RegisterCall const& call,
                                                              Deadline deadline) const {
    epochs_->before_write(epoch_key_of(call.ns));
    return execute_one(core_->session(), RegisterScript{*core_, true}, call, deadline);
}

Task<Result<Written>> DiscoveryRedisScripts::registry_deregister(std::string const& ns,
                                                                 InstanceId const& id,
                                                                 Deadline deadline) const {
    std::vector<std::string> arguments{id.service, id.id};
    return write(scripts::registry_deregister, ns, std::move(arguments),
                 subject("deregister", id.service, id.id), deadline);
}

Task<Result<Lease>> DiscoveryRedisScripts::registry_renew(RenewCall const& call,
                                                          Deadline deadline) const {
    auto const& [service, id] = call.ids.front();
    auto const what = subject("renew", id);
    auto const epoch_key = epoch_key_of(call.ns);
    epochs_->before_write(epoch_key);
    std::vector<std::string> arguments{id, std::to_string(call.lease.count()),
                                       std::to_string(call.tolerance.count()), service};
    auto const response =
        co_await run(scripts::registry_renew, call.ns, std::move(arguments), what, deadline);
    if (response.has_error()) co_return response.error();
    auto const reply = (*response)[0];
    if (reply.is_aggregate()) note_refused(*core_, call.ns, reply[1].text());
    auto const lease = lease_of((reply.is_aggregate() ? reply[0] : reply).integer(wrong_type));
    if (lease == Lease::missing) epochs_->doubt(epoch_key);
    co_return lease;
}

Task<std::vector<Result<RenewReply>>> DiscoveryRedisScripts::registry_renew_batch(
    std::span<RenewCall const> calls, Deadline deadline) const {
    for (auto const& call : calls) epochs_->before_write(epoch_key_of(call.ns));
    auto replies = co_await execute_all(core_->session(), RenewScript{*core_}, calls, deadline);
    for (std::size_t i = 0; i < replies.size(); ++i) {
        if (!replies[i].has_value()) continue;
        auto const missing = std::ranges::count(replies[i]->leases, Lease::missing);
        if (missing > 0) epochs_->doubt(epoch_key_of(calls[i].ns));
    }
    co_return replies;
}

Task<Result<Written>> DiscoveryRedisScripts::registry_set_metadata(std::string const& ns,
                                                                   InstanceId const& id,
                                                                   Metadata const& metadata,
                                                                   Deadline deadline) const {
    std::vector<std::string> arguments{id.id};
    append_pairs(arguments, metadata);
    return write(scripts::registry_set_metadata, ns, std::move(arguments),
                 subject("set metadata of", id.service, id.id), deadline,
                 DiscoveryKeyGenerator::instance_idx_key(ns, id.service));
}

Task<Result<Written>> DiscoveryRedisScripts::update(std::string const& ns, InstanceId const& id,
                                                    std::vector<std::string> pairs,
                                                    std::string_view verb,
                                                    Deadline deadline) const {
    std::vector<std::string> arguments{id.id, std::to_string(max_metadata_pairs),
                                       std::to_string(max_metadata_size)};
    std::ranges::move(pairs, std::back_inserter(arguments));
    return write(scripts::registry_update_fields, ns, std::move(arguments),
                 subject(verb, id.service, id.id), deadline,
                 DiscoveryKeyGenerator::instance_idx_key(ns, id.service));
}

Task<Result<Written>> DiscoveryRedisScripts::registry_merge_metadata(std::string const& ns,
                                                                     InstanceId const& id,
                                                                     Metadata const& metadata,
                                                                     Deadline deadline) const {
    std::vector<std::string> pairs;
    append_pairs(pairs, metadata);
    return update(ns, id, std::move(pairs), "merge metadata of", deadline);
}

Task<Result<Written>> DiscoveryRedisScripts::registry_set_weight(std::string const& ns,
                                                                 InstanceId const& id, int weight,
                                                                 Deadline deadline) const {
    return update(ns, id, {"weight", std::to_string(weight)}, "set weight of", deadline);
}

Task<Result<Written>> DiscoveryRedisScripts::registry_set_service(std::string const& ns,
                                                                  std::string const& service,
                                                                  Deadline deadline) const {
    note_patterns(*core_, ns, service);
    std::vector<std::string> arguments{service};
    return write(scripts::registry_set_service, ns, std::move(arguments),
                 subject("set service", service), deadline);
}

Task<Result<Written>> DiscoveryRedisScripts::registry_remove_service(std::string const& ns,
                                                                     std::string const& service,
                                                                     Deadline deadline) const {
    std::vector<std::string> arguments{service};
    return write(scripts::registry_remove_service, ns, std::move(arguments),
                 subject("remove service", service), deadline);
}

Task<Result<void>> DiscoveryRedisScripts::service_stat(std::string const& ns,
                                                       std::optional<std::string> const& service,
                                                       Deadline deadline) const {
    std::vector<std::string> arguments;
    if (service) arguments.push_back(*service);
    auto const response = co_await run(scripts::service_stat, ns, std::move(arguments),
                                       subject("count instances in", ns), deadline);
    if (response.has_error()) co_return response.error();
    auto const reply = (*response)[0];
    if (reply.is_null()) co_return Result<void>{};
    if (reply.size() == 2) note_refused(*core_, ns, reply[1].text());
    for (auto const left_out : reply[0]) {
        core_->log().write(LogLevel::warning, "left-out",
                           "left out " + std::string{left_out.text()} + " in " + ns +
                               ": its list of instances is no set");
    }
    co_return Result<void>{};
}

Task<Result<void>> DiscoveryRedisScripts::service_topology_add(
    std::string const& ns, std::string const& consumer, std::string const& producer,
    std::optional<std::chrono::seconds> expire_after, Deadline deadline) const {
    std::vector<std::string> arguments{consumer, producer};
    if (expire_after) arguments.push_back(std::to_string(expire_after->count()));
    auto const response = co_await run(scripts::service_topology_add, ns, std::move(arguments),
                                       subject("add topology of", consumer), deadline);
    if (response.has_error()) co_return response.error();
    co_return Result<void>{};
}

Task<Result<std::vector<std::string>>> DiscoveryRedisScripts::discovery_expire(
    ExpireCall const& call, Deadline deadline) const {
    return execute_one(core_->session(), ExpireScript{*core_}, call, deadline);
}

Task<std::vector<Result<std::vector<std::string>>>> DiscoveryRedisScripts::discovery_expire(
    std::span<ExpireCall const> calls, Deadline deadline) const {
    return execute_all(core_->session(), ExpireScript{*core_}, calls, deadline);
}

std::vector<ExpireCall> expire_calls(std::string const& ns, std::string const& service,
                                     std::span<std::string const> ids, Unannounced unannounced) {
    std::vector<ExpireCall> calls;
    while (!ids.empty()) {
        auto const some = ids.first(std::min(ids.size(), DiscoveryRedisScripts::max_expired));
        ids = ids.subspan(some.size());
        auto& call = calls.emplace_back();
        call.ns = ns;
        call.service = service;
        call.ids.assign(some.begin(), some.end());
        call.unannounced = unannounced;
    }
    return calls;
}

}  // namespace rollcall::cosky
