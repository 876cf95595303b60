#include "model/cosky/step.hpp"

#include <array>

#include "support/golden_json.hpp"

namespace rollcall::cosky::test {

namespace {

using golden::in_quotes;

constexpr std::array<std::string_view, 25> names{
    "register",     "renew",          "round of renewals", "deregister",
    "set metadata", "merge metadata", "set service",       "remove service",
    "expire",       "set TTL",        "set renewal",       "stat",
    "count",        "stats",          "instances",         "instance",
    "sweep",        "clean up",       "stray member",      "stale service",
    "stale stat",   "set field",      "remove field",      "headless",
    "text"};

std::string pairs(Metadata const& metadata) {
    std::vector<std::string> parts;
    for (auto const& [key, value] : metadata)
        parts.push_back(in_quotes(key) + ": " + in_quotes(value));
    return joined(parts);
}

Answer found(std::vector<FoundInstance> const& all) {
    Answer answer;
    std::vector<std::string> parts;
    for (auto const& one : all) {
        parts.push_back(describe(one.instance));
        answer.ttl_at.push_back(one.ttl_at);
    }
    answer.text = joined(parts);
    return answer;
}

std::string round(Step const& step, ReferenceModel& model) {
    std::vector<std::string> parts;
    for (auto const& [id, result] : model.renew_registered(step.process, step.seconds)) {
        parts.push_back(id + ": " + result);
    }
    return joined(parts);
}

std::string swept(ReferenceModel& model) {
    std::string out;
    for (auto const& [service, ids] : model.sweep()) out += service + joined(ids);
    return out;
}

std::string stats(ReferenceModel const& model) {
    std::vector<std::string> parts;
    for (auto const& [service, count] : model.service_stats())
        parts.push_back(service + '=' + count);
    return joined(parts);
}

void interfere(Step const& step, ReferenceModel& model) {
    using Kind = Step::Kind;
    switch (step.kind) {
        case Kind::expire:
            return model.remove_hash(step.id);
        case Kind::set_ttl:
            return model.set_ttl(step.id, step.seconds);
        case Kind::stray_member:
            return step.flag ? model.unlist(step.service, step.id)
                             : model.list(step.service, step.id);
        case Kind::stale_service:
            return step.flag ? model.forget_service(step.service) : model.add_service(step.service);
        case Kind::stale_stat:
            return model.set_stat(step.service, step.value);
        case Kind::remove_field:
            return model.remove_field(step.id, step.field);
        case Kind::headless:
            return model.make_headless(step.id);
        case Kind::text:
            return model.make_text(step.id);
        default:
            return model.set_field(step.id, step.field, step.value);
    }
}

}  // namespace

std::vector<Process> model_processes() {
    return {{.lease = 900, .reclaim_persistent = true}, {.lease = 60, .reclaim_persistent = false}};
}

std::string joined(std::vector<std::string> const& parts) {
    std::string out;
    for (auto const& part : parts) out += (out.empty() ? "" : ", ") + part;
    return '[' + out + ']';
}

std::string told(ReferenceModel::Told told) { return !told ? "failed" : *told ? "yes" : "no"; }

std::string describe(ServiceInstance const& instance) {
    return instance.service_name + '/' + instance.instance_id + ' ' + instance.scheme + "://" +
           instance.host + ':' + std::to_string(instance.port) +
           " w=" + std::to_string(instance.weight) + (instance.ephemeral ? " E " : " - ") +
           pairs(instance.metadata);
}

std::string to_string(Step const& step) {
    using Kind = Step::Kind;
    std::string out{names.at(static_cast<std::size_t>(step.kind))};
    out += " by " + std::to_string(step.process) + ' ' + step.service + '/' + step.id;
    if (step.kind == Kind::register_instance || step.kind == Kind::renew) {
        out += ' ' + describe(step.instance);
    }
    if (!step.metadata.empty()) out += ' ' + pairs(step.metadata);
    if (step.seconds != 0) out += " seconds=" + std::to_string(step.seconds);
    if (!step.field.empty()) out += " field=" + step.field;
    if (!step.value.empty()) out += " value=" + step.value;
    return step.flag ? out + " flag" : out;
}

Answer apply(Step const& step, ReferenceModel& model) {
    using Kind = Step::Kind;
    switch (step.kind) {
        case Kind::register_instance:
            return {told(model.register_instance(step.process, step.instance))};
        case Kind::renew:
            return {told(model.renew(step.process, step.instance))};
        case Kind::renew_round:
            return {round(step, model)};
        case Kind::deregister:
            return {told(model.deregister(step.process, step.service, step.id))};
        case Kind::set_metadata:
        case Kind::merge_metadata:
            return {told(model.set_metadata(step.process, step.service, step.id, step.metadata,
                                            step.kind == Kind::merge_metadata))};
        case Kind::set_service:
            return {told(model.set_service(step.service))};
        case Kind::remove_service:
            return {told(model.remove_service(step.service))};
        case Kind::stat:
            if (step.flag) {
                model.stat_all();
            } else {
                model.stat(step.service);
            }
            return {};
        case Kind::count:
            return {std::to_string(model.instance_count())};
        case Kind::stats:
            return {stats(model)};
        case Kind::instances:
            return found(model.instances(step.service));
        case Kind::instance: {
            auto const one = model.instance(step.service, step.id);
            return one ? found({*one}) : found({});
        }
        case Kind::sweep:
            return {swept(model)};
        case Kind::clean_up:
            return {joined(model.clean_up(step.service))};
        default:
            interfere(step, model);
            return {};
    }
}

}  // namespace rollcall::cosky::test
