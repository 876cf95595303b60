#include "support/vectors.hpp"

#include <boost/json/parse.hpp>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>

namespace rollcall::test {
namespace {

void set(std::string& member, json::object const& row, std::string_view name) {
    if (row.contains(name)) member = text(row, name);
}

void set(int& member, json::object const& row, std::string_view name) {
    if (auto const* value = row.if_contains(name)) member = value->to_number<int>();
}

void set(bool& member, json::object const& row, std::string_view name) {
    if (auto const* value = row.if_contains(name)) member = value->as_bool();
}

}  // namespace

json::value document(std::string_view file) {
    auto const path = std::string{ROLLCALL_TEST_DATA} + '/' + std::string{file} + ".json";
    std::ifstream in{path, std::ios::binary};
    std::string const bytes{std::istreambuf_iterator<char>{in}, {}};
    json::parse_options options;
    options.numbers = json::number_precision::precise;
    return json::parse(bytes, {}, options);
}

json::array rows(std::string_view file, std::string_view section) {
    auto const whole = document(file);
    auto const* const value = whole.as_object().if_contains(section);
    if (!value || value->as_array().empty()) {
        ADD_FAILURE() << file << " has no section " << section;
        return {};
    }
    return value->as_array();
}

std::string text(json::value const& value) {
    if (auto const* const string = value.if_string()) return std::string{*string};
    std::string out;
    for (auto const& part : value.as_object().at("parts").as_array()) {
        if (auto const* const string = part.if_string()) {
            out += *string;
            continue;
        }
        auto const once = text(part.at("repeat"));
        for (auto left = part.at("times").as_int64(); left > 0; --left) out += once;
    }
    return out;
}

std::string text(json::object const& row, std::string_view name, std::string_view otherwise) {
    auto const* const value = row.if_contains(name);
    return !value || value->is_null() ? std::string{otherwise} : text(*value);
}

Metadata metadata(json::value const& value) {
    Metadata result;
    for (auto const& [key, entry] : value.as_object()) result.emplace(key, text(entry));
    return result;
}

ServiceInstance instance(json::object const& row) {
    ServiceInstance result;
    set(result.service_name, row, "service_name");
    set(result.instance_id, row, "instance_id");
    set(result.scheme, row, "scheme");
    set(result.host, row, "host");
    set(result.port, row, "port");
    set(result.weight, row, "weight");
    set(result.ephemeral, row, "ephemeral");
    set(result.enabled, row, "enabled");
    set(result.healthy, row, "healthy");
    if (auto const* const entries = row.if_contains("metadata")) {
        result.metadata = metadata(*entries);
    }
    return result;
}

}  // namespace rollcall::test
