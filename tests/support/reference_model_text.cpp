#include <algorithm>
#include <boost/json.hpp>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>

#include "support/reference_model.hpp"

#include "rollcall/protocol.hpp"

/// Texts of the layout: what is stored, what is announced, how filters compare.
namespace rollcall::test {

namespace {

namespace json = boost::json;

enum class Style { cjson, jackson, message };

std::string code_unit(unsigned value, bool upper_case) {
    char text[16];
    std::snprintf(text, sizeof text, upper_case ? "\\u%04X" : "\\u%04x", value);
    return text;
}

/// The character of a four-byte UTF-8 sequence as an escaped surrogate pair.
std::string surrogates(std::string_view bytes) {
    auto const bits = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]) & 0x3fU; };
    unsigned const point =
        (static_cast<unsigned char>(bytes[0]) & 7U) << 18 | bits(1) << 12 | bits(2) << 6 | bits(3);
    unsigned const offset = point - 0x10000;
    return code_unit(0xd800 + (offset >> 10), true) + code_unit(0xdc00 + (offset & 0x3ff), true);
}

std::string json_string(std::string_view text, Style style) {
    static constexpr std::string_view short_forms = "\b\t\n\f\r\"\\";
    static constexpr std::string_view letters = "btnfr\"\\";
    std::string out = "\"";
    for (std::size_t i = 0; i < text.size(); ++i) {
        auto const byte = static_cast<unsigned char>(text[i]);
        auto const form = short_forms.find(text[i]);
        if (form != std::string_view::npos) {
            out += '\\';
            out += letters[form];
        } else if (byte < 0x20 || (byte == 0x7f && style == Style::cjson)) {
            out += code_unit(byte, style != Style::cjson);
        } else if (byte == '/' && style == Style::cjson) {
            out += "\\/";
        } else if (byte >= 0xf0 && style == Style::message) {
            out += surrogates(text.substr(i, 4));
            i += 3;
        } else {
            out += text[i];
        }
    }
    return out + '"';
}

std::string members(Metadata const& metadata, Style style) {
    std::string out;
    for (auto const& [key, value] : metadata) {
        if (!out.empty()) out += ',';
        out += json_string(key, style) + ':' + json_string(value, style);
    }
    return out;
}

std::string snapshot(ServiceInstance const& instance) {
    auto const text = [](std::string_view value) { return json_string(value, Style::message); };
    auto const flag = [](bool on) { return on ? "true" : "false"; };
    std::string out = R"({"@class":"io.github.cuihairu.redis.streaming.registry.event.)"
                      R"(ServiceChangeEvent$InstanceSnapshot","enabled":)";
    out += flag(instance.enabled);
    out += R"(,"healthy":)";
    out += flag(instance.healthy);
    if (!instance.host.empty()) out += R"(,"host":)" + text(instance.host);
    out += R"(,"instanceId":)" + text(instance.instance_id);
    out += R"(,"metadata":{"@class":"java.util.HashMap")";
    if (!instance.metadata.empty()) out += ',' + members(instance.metadata, Style::message);
    out += R"(},"port":)" + std::to_string(effective_port(instance.scheme, instance.port));
    out += R"(,"protocol":)" + text(instance.scheme);
    out += R"(,"serviceName":)" + text(instance.service_name);
    return out + R"(,"weight":)" + std::to_string(instance.weight) + '}';
}

/// The text form that the design's program gives a JSON value that is not a string. The tests
/// store no fractions, whose text has rules of its own.
std::string java_text(json::value const& value) {
    if (value.is_string()) return std::string{value.get_string()};
    std::string out;
    if (value.is_object()) {
        for (auto const& member : value.get_object()) {
            if (!out.empty()) out += ", ";
            out += std::string{member.key()} + '=' + java_text(member.value());
        }
        return '{' + out + '}';
    }
    if (value.is_array()) {
        for (auto const& element : value.get_array()) {
            if (!out.empty()) out += ", ";
            out += java_text(element);
        }
        return '[' + out + ']';
    }
    return json::serialize(value);
}

Metadata read_metadata(std::map<std::string, std::string> const& fields) {
    Metadata metadata;
    auto const found = fields.find("metadata");
    if (found != fields.end()) {
        if (found->second.empty()) return {};
        boost::system::error_code error;
        auto const document = json::parse(found->second, error);
        if (!error && document.is_object()) {
            for (auto const& member : document.get_object()) {
                if (!member.value().is_null()) {
                    metadata[std::string{member.key()}] = java_text(member.value());
                }
            }
            return metadata;
        }
    }
    for (auto const& [field, value] : fields) {
        if (field.starts_with("metadata_")) metadata[field.substr(9)] = value;
    }
    return metadata;
}

/// An optional sign and digits, within 32 or 64 bits.
template <class Integer>
std::optional<Integer> strict_integer(std::string const& text) {
    auto const digits = text.substr(text.starts_with('+') || text.starts_with('-') ? 1 : 0);
    if (digits.empty() || digits.size() > 18) return {};
    if (digits.find_first_not_of("0123456789") != std::string::npos) return {};
    auto const value = std::stoll(text);
    if (value < std::numeric_limits<Integer>::min() ||
        value > std::numeric_limits<Integer>::max()) {
        return {};
    }
    return static_cast<Integer>(value);
}

/// Lua's `tonumber` for text.
std::optional<double> to_number(std::string const& text) {
    char* end = nullptr;
    double const value = std::strtod(text.c_str(), &end);
    if (end == text.c_str()) return {};
    while (*end == ' ' || (*end >= '\t' && *end <= '\r')) ++end;
    if (end != text.c_str() + text.size()) return {};
    return value;
}

std::string short_number(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.14g", value);
    return text;
}

template <class Value>
bool holds(std::string_view comparison, Value const& actual, Value const& expected) {
    if (comparison == "==") return actual == expected;
    if (comparison == "!=") return actual != expected;
    if (comparison == ">") return actual > expected;
    if (comparison == ">=") return actual >= expected;
    if (comparison == "<") return actual < expected;
    return actual <= expected;
}

std::pair<std::string, std::string> field_and_comparison(std::string const& key) {
    auto const colon = key.rfind(':');
    if (colon != std::string::npos) {
        auto const last = key.substr(colon + 1);
        for (auto const* known : {"==", "!=", ">", ">=", "<", "<="}) {
            if (last == known) return {key.substr(0, colon), last};
        }
    }
    return {key, "=="};
}

bool meets_one(json::object const& values, std::string const& key, std::string const& expected) {
    auto const [field, comparison] = field_and_comparison(key);
    auto const* value = values.if_contains(field);
    if (!value || value->is_null()) return false;
    if (value->is_structured()) return comparison == "!=";
    auto const wanted = to_number(expected);
    std::optional<double> number;
    std::string text;
    if (value->is_number()) {
        number = value->to_number<double>();
        text = short_number(*number);
    } else if (value->is_bool()) {
        text = value->get_bool() ? "true" : "false";
    } else {
        text = std::string{value->get_string()};
        number = to_number(text);
    }
    return number && wanted ? holds(comparison, *number, *wanted)
                            : holds(comparison, text, expected);
}

}  // namespace

bool meets(std::optional<std::string> const& document, ReferenceModel::Filters const& filters) {
    if (filters.empty()) return true;
    if (!document) return false;
    boost::system::error_code error;
    auto const values = json::parse(*document, error);
    if (error || !values.is_object()) return false;
    return std::all_of(filters.begin(), filters.end(), [&](auto const& filter) {
        return meets_one(values.get_object(), filter.first, filter.second);
    });
}

std::optional<ServiceInstance> instance_of_fields(std::string const& service, std::string const& id,
                                                  std::map<std::string, std::string> const& fields,
                                                  bool lenient) {
    auto const text = [&](std::string const& field) -> std::optional<std::string> {
        auto const found = fields.find(field);
        return found == fields.end() ? std::nullopt : std::optional{found->second};
    };
    auto const flag = [&](std::string const& field) {
        auto value = text(field).value_or("true");
        std::transform(value.begin(), value.end(), value.begin(), ::tolower);
        return value == "true";
    };
    ServiceInstance instance;
    instance.service_name = service;
    instance.instance_id = id;
    if (!text("host")) return {};
    instance.host = *text("host");
    if (auto const known = find_protocol(text("protocol").value_or(""))) {
        instance.scheme = known->name;
    }
    auto const port = strict_integer<std::int32_t>(text("port").value_or(""));
    auto const weight = strict_integer<std::int32_t>(text("weight").value_or("1"));
    if (!lenient) {
        if (!port || !weight) return {};
        for (auto const* field : {"registrationTime", "lastHeartbeatTime"}) {
            auto const time = text(field);
            if (time && !strict_integer<std::int64_t>(*time)) return {};
        }
    }
    instance.port = effective_port(instance.scheme, port.value_or(0));
    instance.weight = weight.value_or(1);
    instance.enabled = flag("enabled");
    instance.healthy = flag("healthy");
    instance.ephemeral = flag("ephemeral");
    instance.metadata = read_metadata(fields);
    return instance;
}

std::string stored_metadata(Metadata const& metadata) {
    return '{' + members(metadata, Style::cjson) + '}';
}

std::string verbatim_metadata(Metadata const& metadata) {
    return '{' + members(metadata, Style::jackson) + '}';
}

std::string message_text(std::string_view action, std::string const& service, std::string const& id,
                         std::optional<ServiceInstance> const& instance, long long timestamp) {
    std::string out =
        R"({"@class":"io.github.cuihairu.redis.streaming.registry.event.ServiceChangeEvent",)"
        R"("action":")";
    out.append(action) += '"';
    if (instance) out += R"(,"instance":)" + snapshot(*instance);
    out += R"(,"instanceId":)" + json_string(id, Style::message);
    out += R"(,"serviceName":)" + json_string(service, Style::message);
    return out + R"(,"timestamp":)" + std::to_string(timestamp) + '}';
}

}  // namespace rollcall::test
