#include "model/streaming/step.hpp"

#include <algorithm>
#include <array>

#include "support/golden_json.hpp"

namespace rollcall::test {

namespace {

constexpr std::array<std::string_view, 17> names{
    "register", "deregister", "heartbeat",    "describe",    "expire",        "shorten ttl",
    "cleanup",  "phantom",    "stray member", "stale index", "set field",     "remove field",
    "discover", "query",      "list",         "update",      "remove phantom"};

std::string flag(bool on) { return on ? "1" : "0"; }

std::string joined(std::vector<std::string> const& parts) {
    std::string out;
    for (auto const& part : parts) out += (out.empty() ? "" : ", ") + part;
    return '[' + out + ']';
}

std::string pairs(auto const& values) {
    std::vector<std::string> parts;
    for (auto const& [key, value] : values) {
        parts.push_back(golden::in_quotes(key) + ": " + golden::in_quotes(value));
    }
    return joined(parts);
}

}  // namespace

std::string describe(ServiceInstance const& instance) {
    return instance.service_name + '/' + instance.instance_id + ' ' + instance.scheme + "://" +
           instance.host + ':' + std::to_string(instance.port) +
           " w=" + std::to_string(instance.weight) + (instance.ephemeral ? " E" : " -") +
           (instance.enabled ? "E" : "-") + (instance.healthy ? "H " : "- ") +
           pairs(instance.metadata);
}

std::string describe(std::vector<ServiceInstance> const& instances) {
    std::vector<std::string> parts;
    for (auto const& instance : instances) parts.push_back(describe(instance));
    return joined(parts);
}

std::string to_string(Step const& step) {
    using Kind = Step::Kind;
    std::string out{names[static_cast<std::size_t>(step.kind)]};
    if (step.instances.empty()) {
        out += ' ' + step.service + '/' + step.id;
    } else {
        out += ' ' + describe(step.instances);
    }
    out += " now=" + std::to_string(step.now);
    if (!step.instances.empty()) out += " lease=" + std::to_string(step.lease);
    if (step.timeout != 0) {
        out += " timeout=" + std::to_string(step.timeout) +
               " bound=" + std::to_string(step.now - step.timeout);
    }
    if (step.kind == Kind::phantom || step.kind == Kind::stray_member) {
        out += " score=" + std::to_string(step.score);
    }
    if (!step.fields.empty()) out += " fields=" + pairs(step.fields);
    if (!step.field.empty()) out += " field=" + step.field;
    if (!step.metadata_filters.empty()) out += " metadata=" + pairs(step.metadata_filters);
    if (!step.metrics_filters.empty()) out += " metrics=" + pairs(step.metrics_filters);
    return step.flag ? out + " flag" : out;
}

namespace {

std::string beats(Step const& step, ReferenceModel& model) {
    // Heartbeats travel by service; each service keeps the order.
    std::map<std::size_t, bool> results;
    for (auto const service : model_services) {
        for (std::size_t i = 0; i < step.instances.size(); ++i) {
            if (step.instances[i].service_name != service) continue;
            results[i] = model.heartbeat(step.instances[i], step.kind == Step::Kind::describe,
                                         step.now, step.lease);
        }
    }
    std::string out;
    for (auto const& [index, alive] : results) out += flag(alive);
    return out;
}

std::string cleaned(Step const& step, ReferenceModel& model) {
    std::string out;
    auto const index = model.state().index;
    for (auto const& service : index) {
        auto const removed = model.cleanup(service, step.now, step.timeout);
        if (!removed.empty()) out += service + joined(removed);
    }
    return out;
}

std::string with_scores(Step const& step, std::vector<std::string> ids,
                        ReferenceModel const& model) {
    for (auto& id : ids) {
        id += ':' + std::to_string(model.state().heartbeats.at(step.service).at(id));
    }
    return joined(ids);
}

void interfere(Step const& step, ReferenceModel& model) {
    using Kind = Step::Kind;
    switch (step.kind) {
        case Kind::expire:
            model.remove_hash(step.service, step.id);
            break;
        case Kind::shorten_ttl:
            model.set_ttl(step.service, step.id, short_ttl);
            break;
        case Kind::phantom:
            model.remove_hash(step.service, step.id);
            for (auto const& [field, value] : step.fields) {
                model.set_field(step.service, step.id, field, value);
            }
            if (step.flag) model.add_member(step.service, step.id, step.score);
            break;
        case Kind::stray_member:
            model.add_member(step.service, step.id, step.score);
            break;
        case Kind::stale_index:
            if (step.flag) {
                model.remove_from_index(step.service);
            } else {
                model.add_to_index(step.service);
            }
            break;
        case Kind::set_field:
            model.set_field(step.service, step.id, step.field, step.fields.at(step.field));
            break;
        default:
            model.remove_field(step.service, step.id, step.field);
    }
}

}  // namespace

std::string apply(Step const& step, ReferenceModel& model) {
    using Kind = Step::Kind;
    std::string out;
    switch (step.kind) {
        case Kind::register_instances:
            for (auto const& instance : step.instances) {
                out += flag(model.register_instance(instance, step.now, step.lease));
            }
            return out;
        case Kind::deregister:
            return flag(model.deregister(step.instances[0], step.now));
        case Kind::heartbeat:
        case Kind::describe:
            return beats(step, model);
        case Kind::cleanup:
            return cleaned(step, model);
        case Kind::discover:
            return with_scores(step, model.active(step.service, step.now, step.timeout), model);
        case Kind::query:
            return with_scores(step,
                               model.query(step.service, step.now, step.timeout,
                                           step.metadata_filters, step.metrics_filters),
                               model);
        case Kind::list:
            return describe(model.instances(step.service));
        case Kind::update:
            return flag(model.update(step.service, step.id, step.fields, step.now));
        case Kind::remove_phantom:
            return flag(model.remove_phantom(step.service, step.id));
        default:
            interfere(step, model);
            return out;
    }
}

}  // namespace rollcall::test
