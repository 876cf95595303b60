#include "recorded/cosky/inputs.hpp"

#include <stdexcept>

namespace rollcall::cosky::test {

namespace {

// Words of a recorded call of the register script without metadata.
constexpr std::size_t register_words = 11;

/// EVALSHA, SHA-1, 1, namespace, ttl, service, id, schema, host, port, weight, metadata…
ServiceInstance registered(std::vector<std::string> const& words) {
    ServiceInstance instance;
    instance.ephemeral = words[4] != "-1";
    instance.service_name = words[5];
    instance.instance_id = words[6];
    instance.scheme = words[7];
    instance.host = words[8];
    instance.port = std::stoi(words[9]);
    instance.weight = std::stoi(words[10]);
    for (std::size_t i = register_words; i + 1 < words.size(); i += 2) {
        instance.metadata[words[i].substr(1)] = words[i + 1];
    }
    return instance;
}

}  // namespace

std::vector<std::string> script_call(golden::Step const& step, std::size_t words) {
    for (auto const& command : step.commands) {
        if (command.words[0] == "EVALSHA" && command.words.size() >= words) return command.words;
    }
    return {};
}

Names recorded_names(golden::Step const& step, golden::StepPlan const& plan) {
    if (!plan.inputs.empty()) return plan.inputs.front();
    for (auto const& word : script_call(step)) {
        if (auto const parts = parse_instance_id(word)) return {parts->service_name, word};
    }
    throw std::runtime_error{"no instance is named in the step " + step.name};
}

ServiceInstance recorded_input(golden::Step const& step, golden::StepPlan const& plan,
                               golden::LiveKeys const& state) {
    auto const call = script_call(step, register_words);
    if (!call.empty()) return registered(call);
    auto const [service, id] = recorded_names(step, plan);
    if (auto const stored = stored_instance(state, id)) return *stored;
    auto const parts = parse_instance_id(id).value();
    ServiceInstance instance;
    instance.service_name = service;
    instance.instance_id = id;
    instance.scheme = parts.scheme;
    instance.host = parts.host;
    instance.port = parts.port;
    return instance;
}

std::optional<ServiceInstance> stored_instance(golden::LiveKeys const& state,
                                               std::string const& id) {
    auto const found = state.find(recorded_ns + ":svc_itc:" + id);
    if (found == state.end() || !found->second.fields.contains("serviceId")) return {};
    auto const& fields = found->second.fields;
    ServiceInstance instance;
    instance.instance_id = fields.at("instanceId");
    instance.service_name = fields.at("serviceId");
    instance.scheme = fields.at("schema");
    instance.host = fields.at("host");
    instance.port = std::stoi(fields.at("port"));
    instance.weight = std::stoi(fields.at("weight"));
    instance.ephemeral = fields.at("ephemeral") == "true";
    for (auto const& [field, value] : fields) {
        if (!field.starts_with('_') || field.starts_with("__")) continue;
        instance.metadata[field.substr(1)] = value;
    }
    return instance;
}

std::string notation(DiscoveredInstance const& found) {
    auto const& instance = found.instance;
    std::string metadata;
    for (auto const& [key, value] : instance.metadata) {
        metadata += (metadata.empty() ? "" : ", ") + key + '=' + value;
    }
    return instance.instance_id + " weight=" + std::to_string(instance.weight) +
           " eph=" + (instance.ephemeral ? "true" : "false") +
           " ttlAt=" + std::to_string(found.ttl_at) + " md={" + metadata + '}';
}

std::string notation(DiscoveredInstances const& found) {
    std::string out;
    for (auto const& one : found) out += (out.empty() ? "" : ", ") + notation(one);
    return '[' + out + ']';
}

}  // namespace rollcall::cosky::test
