#include "recorded/streaming/inputs.hpp"

#include <boost/json.hpp>
#include <charconv>
#include <stdexcept>

namespace rollcall::test {

namespace {

namespace json = boost::json;

/// Documents with placeholders, as JSON.
json::object parsed(std::string text) {
    for (auto const& [mark, value] : {std::pair{std::string{"{{ms}}"}, std::string{"1"}},
                                      std::pair{std::string{"{{metrics}}"}, std::string{"{}"}}}) {
        for (auto at = text.find(mark); at != std::string::npos; at = text.find(mark, at)) {
            text.replace(at, mark.size(), value);
        }
    }
    return json::parse(text).as_object();
}

std::string text_of(json::object const& from, std::string_view member) {
    auto const* value = from.if_contains(member);
    return value && value->is_string() ? std::string{value->get_string()} : std::string{};
}

Metadata metadata_of(json::object const& from) {
    Metadata metadata;
    auto const* value = from.if_contains("metadata");
    if (!value || !value->is_object()) return metadata;
    for (auto const& [key, text] : value->get_object()) {
        if (key != "@class") metadata[std::string{key}] = std::string{text.as_string()};
    }
    return metadata;
}

/// A registration document, or the snapshot in a message.
ServiceInstance instance_of(json::object const& from) {
    ServiceInstance instance;
    instance.host = text_of(from, "host");
    instance.scheme = text_of(from, "protocol");
    instance.port = static_cast<int>(from.at("port").as_int64());
    instance.weight = static_cast<int>(from.at("weight").as_int64());
    instance.enabled = from.at("enabled").as_bool();
    instance.healthy = from.at("healthy").as_bool();
    if (auto const* ephemeral = from.if_contains("ephemeral")) {
        instance.ephemeral = ephemeral->as_bool();
    }
    instance.metadata = metadata_of(from);
    return instance;
}

streaming::Filters section(json::value const& from) {
    streaming::Filters filters;
    for (auto const& [key, value] : from.as_object()) {
        filters.emplace_back(std::string{key}, std::string{value.as_string()});
    }
    return filters;
}

std::string number_text(double value) {
    char buffer[32];
    auto const end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
    std::string text{buffer, end};
    return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

std::string value_text(streaming::AdminValue const& value) {
    struct Visitor {
        std::string operator()(std::nullptr_t) const { return "null"; }
        std::string operator()(bool on) const { return on ? "true" : "false"; }
        std::string operator()(std::int64_t number) const { return std::to_string(number); }
        std::string operator()(double number) const { return number_text(number); }
        std::string operator()(std::string const& text) const { return text; }
        std::string operator()(streaming::JsonText const& text) const { return text.text; }
    };
    return std::visit(Visitor{}, value);
}

std::string in_braces(auto const& values, auto const& text) {
    std::string out;
    for (auto const& [key, value] : values) {
        out += (out.empty() ? "" : ", ") + key + '=' + text(value);
    }
    return '{' + out + '}';
}

}  // namespace

std::vector<ServiceInstance> recorded_inputs(golden::Step const& step, golden::StepPlan const& plan,
                                             golden::LiveKeys const& state) {
    std::vector<ServiceInstance> inputs;
    for (auto const& [service, id] : plan.inputs) {
        inputs.push_back(stored_instance(state, service, id));
    }
    for (auto const& command : step.commands) {
        // EVALSHA sha1 3 index heartbeats hash service id now document ttl
        if (command.words.size() != 11 || command.words[0] != "EVALSHA") continue;
        if (command.words[2] != "3") continue;  // A heartbeat has two keys.
        auto& instance = inputs.emplace_back(instance_of(parsed(command.words[9])));
        instance.service_name = command.words[6];
        instance.instance_id = command.words[7];
    }
    if (inputs.empty() && !step.messages.empty()) {
        auto const message = parsed(step.messages.front().payload);
        auto& instance = inputs.emplace_back(instance_of(message.at("instance").as_object()));
        instance.service_name = text_of(message, "serviceName");
        instance.instance_id = text_of(message, "instanceId");
    }
    for (auto& instance : inputs) {
        if (!plan.input_id.empty()) instance.instance_id = plan.input_id;
        if (!plan.input_ephemeral.empty()) instance.ephemeral = plan.input_ephemeral == "true";
    }
    if (inputs.empty()) throw std::logic_error{"no input for the step " + step.name};
    return inputs;
}

ServiceInstance stored_instance(golden::LiveKeys const& state, std::string const& service,
                                std::string const& id) {
    auto const key =
        std::string{golden::recorded_prefix} + ":services:" + service + ":instance:" + id;
    auto const& fields = state.at(key).fields;
    ServiceInstance instance;
    instance.service_name = service;
    instance.instance_id = id;
    instance.host = fields.at("host");
    instance.scheme = fields.at("protocol");
    instance.port = std::stoi(fields.at("port"));
    instance.weight = std::stoi(fields.at("weight"));
    instance.enabled = fields.at("enabled") == "true";
    instance.healthy = fields.at("healthy") == "true";
    instance.ephemeral = fields.at("ephemeral") == "true";
    auto const metadata = fields.find("metadata");
    if (metadata != fields.end()) {
        for (auto const& [name, value] : parsed(metadata->second)) {
            instance.metadata[std::string{name}] =
                value.is_string() ? std::string{value.get_string()} : json::serialize(value);
        }
    }
    return instance;
}

RecordedFilters recorded_filters(golden::Step const& step) {
    for (auto const& command : step.commands) {
        if (command.words[0] != "EVALSHA_RO" || command.words.size() != 9) continue;
        auto const document = json::parse(command.words[8]).as_object();
        if (!document.contains("metadata")) return {section(document), {}};
        return {section(document.at("metadata")), section(document.at("metrics"))};
    }
    throw std::logic_error{"no filters in the step " + step.name};
}

std::string notation(std::vector<ServiceInstance> const& instances) {
    std::string out;
    for (auto const& instance : instances) {
        if (!out.empty()) out += ", ";
        out += instance.instance_id + ' ' + uri(instance) +
               " w=" + std::to_string(instance.weight) +
               (instance.enabled ? " enabled" : " disabled") +
               (instance.healthy ? " healthy" : " unhealthy") +
               (instance.ephemeral ? " ephemeral" : " persistent") +
               " md=" + in_braces(instance.metadata, [](std::string const& text) { return text; });
    }
    return '[' + out + ']';
}

std::string notation(streaming::AdminValues const& values) { return in_braces(values, value_text); }

}  // namespace rollcall::test
