#include "model/cosky/subject.hpp"

#include <iterator>
#include <utility>

#include "cosky/discovery_redis_scripts.hpp"
#include "cosky/expiry_sweep.hpp"
#include "cosky/instance_reader.hpp"
#include "redis/client_core.hpp"

namespace rollcall::cosky::test {

namespace {

using redis::Request;
using redis::Response;

Task<Result<Response>> ask(redis::ClientCore& core, Request const& request) {
    Response response;
    auto const outcome = co_await core.session().exec(request, response, core.deadline());
    if (outcome.has_error()) co_return outcome.error();
    co_return response;
}

/// Writes a field only where there is a Hash.
constexpr std::string_view set_field_script =
    "if redis.call('TYPE', KEYS[1]).ok ~= 'hash' then return end "
    "redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])";

std::string text(Renewal renewal) {
    switch (renewal) {
        case Renewal::renewed:
            return ReferenceModel::renewed;
        case Renewal::registered_again:
            return ReferenceModel::registered_again;
        case Renewal::reclaimed:
            return ReferenceModel::reclaimed;
        case Renewal::released:
            return ReferenceModel::released;
        case Renewal::removed:
            return "removed";
        case Renewal::failed:
            break;
    }
    return ReferenceModel::failed;
}

/// The content of a key, from what HGETALL and SMEMBERS say of it; the one that fits is no error.
golden::LiveKey content(redis::Value fields, redis::Value members, redis::Value expiry) {
    golden::LiveKey key;
    if (expiry.integer() >= 0) key.expiry = golden::Expiry::at(expiry.integer());
    if (!fields.is_error()) {
        for (auto at = fields.begin(); at != fields.end();) {
            std::string field{(*at++).text()};
            key.fields[std::move(field)] = (*at++).text();
        }
    } else if (!members.is_error()) {
        key.type = golden::Type::set;
        for (auto const member : members) key.members.emplace(member.text());
    } else {
        key.type = golden::Type::other;
    }
    return key;
}

}  // namespace

Subject::Subject(Client const& client, std::string ns)
    : core_(client.core()), ns_(std::move(ns)), discovery_(client), statistic_(client) {
    for (auto const& process : model_processes()) {
        RegistryProperties properties;
        properties.instance_ttl = std::chrono::seconds{process.lease};
        properties.reclaim_persistent = process.reclaim_persistent;
        registries_.push_back(std::make_unique<RedisServiceRegistry>(client, properties));
    }
}

Answer Subject::perform(Step const& step) {
    try {
        return do_perform(step);
    } catch (Error const& error) {
        // Of a key of another type; anything else would be another text here and there.
        bool const wrong_type = error.detail().find("WRONGTYPE") != std::string::npos;
        return {wrong_type ? told({}) : error.detail()};
    }
}

Answer Subject::do_perform(Step const& step) {
    using Kind = Step::Kind;
    auto& registry = *registries_.at(step.process);
    switch (step.kind) {
        case Kind::register_instance:
            return {told(registry.register_instance(ns_, step.instance))};
        case Kind::renew:
            return {told(registry.renew(ns_, step.instance))};
        case Kind::renew_round:
            return renew_round(step);
        case Kind::deregister:
            return {told(registry.deregister(ns_, step.service, step.id))};
        case Kind::set_metadata:
            return {told(registry.set_metadata(ns_, step.service, step.id, step.metadata))};
        case Kind::merge_metadata:
            return {told(registry.merge_metadata(ns_, step.service, step.id, step.metadata))};
        case Kind::set_service:
            return {told(registry.set_service(ns_, step.service))};
        case Kind::remove_service:
            return {told(registry.remove_service(ns_, step.service))};
        case Kind::stat:
            if (step.flag) {
                statistic_.stat_service(ns_);
            } else {
                statistic_.stat_service(ns_, step.service);
            }
            return {};
        case Kind::count:
            return {std::to_string(statistic_.instance_count(ns_))};
        case Kind::stats:
            return stats();
        case Kind::instances:
            return found(discovery_.instances(ns_, step.service));
        case Kind::instance: {
            auto const one = discovery_.instance(ns_, step.service, step.id);
            return one ? found({*one}) : found({});
        }
        case Kind::sweep:
            return sweep();
        case Kind::clean_up:
            return clean_up(step);
        default:
            interfere(step);
            return {};
    }
}

Answer Subject::renew_round(Step const& step) {
    std::vector<std::string> parts;
    auto& registry = *registries_.at(step.process);
    for (auto const& one : registry.renew_registered(std::chrono::seconds{step.seconds})) {
        parts.push_back(one.instance->instance_id + ": " + text(one.renewal));
    }
    return {joined(parts)};
}

Answer Subject::stats() {
    std::vector<std::string> parts;
    for (auto const& stat : statistic_.service_stats(ns_)) {
        parts.push_back(stat.service_name + '=' + std::to_string(stat.instance_count));
    }
    return {joined(parts)};
}

Answer Subject::sweep() {
    DiscoveryRedisScripts const scripts{core_};
    InstanceReader reader{scripts};
    ExpirySweep sweep{scripts, reader, ns_};
    auto const report = core_->run([&] { return sweep.run(core_->deadline()); });
    if (report.has_error()) return {report.error().detail()};
    std::string out;
    for (auto const& service : report->services) {
        out += service.service + joined(service.removed);
        if (service.failure) out += service.failure->detail();
    }
    return {out};
}

Answer Subject::clean_up(Step const& step) {
    DiscoveryRedisScripts const scripts{core_};
    ExpireCall call;
    call.ns = ns_;
    call.service = step.service;
    call.unannounced = Unannounced::removed;
    call.ids.assign(std::begin(model_ids), std::end(model_ids));
    auto const removed =
        core_->run([&] { return scripts.discovery_expire(call, core_->deadline()); });
    if (removed.has_error()) return {removed.error().detail()};
    return {joined(*removed)};
}

Answer Subject::found(DiscoveredInstances const& all) const {
    Answer answer;
    std::vector<std::string> parts;
    for (auto const& one : all) {
        parts.push_back(describe(one.instance));
        answer.ttl_at.push_back(std::to_string(one.ttl_at));
    }
    answer.text = joined(parts);
    return answer;
}

void Subject::interfere(Step const& step) const {
    using Kind = Step::Kind;
    ReferenceModel const names{ns_, {}};
    auto const hash = names.hash_key(step.id);
    auto const seconds = std::to_string(step.seconds);
    Request request;
    switch (step.kind) {
        case Kind::expire:
            if (step.flag) {
                request.push("PEXPIRE", {hash, "0"});
            } else {
                request.push("DEL", {hash});
            }
            break;
        case Kind::set_ttl:
            if (step.seconds == 0) {
                request.push("PERSIST", {hash});
            } else {
                request.push("EXPIRE", {hash, seconds});
            }
            break;
        case Kind::stray_member:
            request.push(step.flag ? "SREM" : "SADD", {names.list_key(step.service), step.id});
            break;
        case Kind::stale_service:
            request.push(step.flag ? "SREM" : "SADD", {names.services_key(), step.service});
            break;
        case Kind::stale_stat:
            request.push("HSET", {names.stats_key(), step.service, step.value});
            break;
        case Kind::remove_field:
            request.push("HDEL", {hash, step.field});
            break;
        case Kind::headless:
            request.push("DEL", {hash});
            request.push("HSET", {hash, renewal_field, "1760000000"});
            break;
        case Kind::text:
            request.push("SET", {hash, "text"});
            break;
        default:
            request.push("EVAL", {set_field_script, "1", hash, step.field, step.value});
    }
    auto const response = core_->run([&] { return ask(*core_, request); });
    if (response.has_error()) throw Error{response.error().code(), response.error().detail()};
}

Subject::Contents Subject::contents(std::set<std::string> const& keys) const {
    Request request;
    request.push("TIME");
    for (auto const& key : keys) {
        request.push("HGETALL", {key});
        request.push("SMEMBERS", {key});
        request.push("PEXPIRETIME", {key});
    }
    Contents out;
    auto const response = core_->run([&] { return ask(*core_, request); });
    if (response.has_error()) {
        out.odd.push_back("cannot read: " + response.error().detail());
        return out;
    }
    auto const time = (*response)[0];
    out.time = time[0].integer() * 1'000 + time[1].integer() / 1'000;
    std::size_t at = 1;
    for (auto const& key : keys) {
        auto const expiry = (*response)[at + 2];
        // −2: there is no such key.
        if (expiry.integer() != -2) {
            out.keys[key] = content((*response)[at], (*response)[at + 1], expiry);
        }
        at += 3;
    }
    return out;
}

std::map<std::string, ServiceInstance> Subject::own(std::size_t process) const {
    std::map<std::string, ServiceInstance> own;
    for (auto const& [id, instance] : registries_.at(process)->registered_ephemeral_instances()) {
        own[id.instance_id] = instance;
    }
    return own;
}

}  // namespace rollcall::cosky::test
