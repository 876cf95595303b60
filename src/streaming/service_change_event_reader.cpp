#include <boost/json/parser.hpp>
#include <boost/json/serialize.hpp>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>

#include "streaming/json_map.hpp"
#include "streaming/json_parsing.hpp"

#include "rollcall/streaming/service_change_event.hpp"

namespace rollcall::streaming {
namespace {

namespace json = boost::json;

std::optional<json::value> parsed(std::string_view text) {
    json::parser parser{{}, stored_json_options()};
    boost::system::error_code error;
    parser.write_some(text.data(), text.size(), error);  // What follows the document is ignored.
    if (error) return std::nullopt;
    return parser.release();
}

/// Empty unless it is there and a string.
std::string text_of(json::object const& object, std::string_view name) {
    auto const* const value = object.if_contains(name);
    auto const* const text = value ? value->if_string() : nullptr;
    return text ? std::string{text->data(), text->size()} : std::string{};
}

/// Numbers and texts of numbers, cut to the range; 0 for anything else.
std::int64_t number_of(json::object const& object, std::string_view name) {
    auto const* const value = object.if_contains(name);
    if (!value) return 0;
    double number = 0;
    if (auto const* const text = value->if_string()) {
        std::from_chars(text->data(), text->data() + text->size(), number);
    } else if (value->is_number()) {
        number = value->to_number<double>();
    }
    constexpr double longest = 1e15;  // Exact as a double, and tens of thousands of years.
    bool const fits = number > -longest && number < longest;  // Not so what is no number.
    return fits ? static_cast<std::int64_t>(number) : 0;
}

int int_of(json::object const& object, std::string_view name) {
    using Limits = std::numeric_limits<std::int32_t>;
    auto const number = number_of(object, name);
    return number < Limits::min() || number > Limits::max() ? 0 : static_cast<int>(number);
}

bool flag_of(json::object const& object, std::string_view name) {
    auto const* const value = object.if_contains(name);
    if (!value) return false;
    if (auto const* const flag = value->if_bool()) return *flag;
    return text_of(object, name) == "true";
}

ServiceInstance instance_of(json::object const& object) {
    ServiceInstance instance;
    instance.service_name = text_of(object, "serviceName");
    instance.instance_id = text_of(object, "instanceId");
    instance.host = text_of(object, "host");
    instance.port = int_of(object, "port");
    if (auto scheme = text_of(object, "protocol"); !scheme.empty()) {
        instance.scheme = std::move(scheme);
    }
    instance.weight = int_of(object, "weight");
    instance.enabled = flag_of(object, "enabled");
    instance.healthy = flag_of(object, "healthy");
    if (auto const* const metadata = object.if_contains("metadata")) {
        instance.metadata = read_json_map(json::serialize(*metadata)).value_or(Metadata{});
        instance.metadata.erase("@class");
    }
    return instance;
}

}  // namespace

std::optional<ServiceChangeEvent> parse_message(std::string_view message) {
    if (message.size() > max_message_size) return std::nullopt;
    auto const document = parsed(message);
    auto const* const object = document ? document->if_object() : nullptr;
    if (!object) return std::nullopt;
    auto const action = service_change_action(text_of(*object, "action"));
    ServiceChangeEvent event;
    event.instance_id = text_of(*object, "instanceId");
    if (!action || event.instance_id.empty()) return std::nullopt;
    event.action = *action;
    event.service_name = text_of(*object, "serviceName");
    event.timestamp = std::chrono::milliseconds{number_of(*object, "timestamp")};
    if (auto const* const instance = object->if_contains("instance")) {
        if (auto const* const described = instance->if_object()) {
            event.instance = instance_of(*described);
        }
    }
    return event;
}

}  // namespace rollcall::streaming
