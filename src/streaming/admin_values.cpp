#include "streaming/admin_values.hpp"

#include <algorithm>
#include <boost/json/parser.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/stream_parser.hpp>
#include <boost/json/value.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include "core/text.hpp"
#include "streaming/json_parsing.hpp"

namespace rollcall::streaming {
namespace {

namespace json = boost::json;

AdminValue typed(json::value const& value) {
    switch (value.kind()) {
        case json::kind::null:
            return nullptr;
        case json::kind::bool_:
            return value.get_bool();
        case json::kind::int64:
            return value.get_int64();
        case json::kind::uint64:
            return static_cast<double>(value.get_uint64());
        case json::kind::double_:
            return value.get_double();
        case json::kind::string:
            return std::string{value.get_string()};
        default:
            return JsonText{json::serialize(value)};
    }
}

}  // namespace

std::optional<AdminValues> read_admin_values(std::string_view text) {
    auto const bytes = to_utf8(text);
    json::stream_parser parser{{}, stored_json_options()};
    boost::system::error_code error;
    parser.write_some(bytes, error);
    if (!error && !parser.done()) parser.finish(error);
    if (error) return std::nullopt;
    auto const document = parser.release();
    auto const* const object = document.if_object();
    if (!object) return std::nullopt;
    AdminValues values;
    for (auto const& [key, value] : *object) values.insert_or_assign(key, typed(value));
    return values;
}

void MetricPool::add(AdminValues const& metrics) {
    for (auto const& [name, value] : metrics) add(name, value);
}

void MetricPool::add(std::string const& name, AdminValue const& value) {
    if (auto const* const integer = std::get_if<std::int64_t>(&value)) {
        add(name, static_cast<double>(*integer));
    } else if (auto const* const number = std::get_if<double>(&value)) {
        add(name, *number);
    } else if (auto const* const text = std::get_if<JsonText>(&value)) {
        // Arrays are not read: they have no names to flatten.
        auto const nested = read_admin_values(text->text);
        if (!nested) return;
        for (auto const& [member, inner] : *nested) {
            auto path = name;
            add(path.append(".").append(member), inner);
        }
    }
}

void MetricPool::add(std::string const& name, double value) {
    if (!std::isfinite(value)) return;
    auto& [total, summary] = sums_[name];
    summary.min = summary.count == 0 ? value : std::min(summary.min, value);
    summary.max = summary.count == 0 ? value : std::max(summary.max, value);
    ++summary.count;
    total += value;
}

std::map<std::string, MetricSummary, std::less<>> MetricPool::summaries() const {
    std::map<std::string, MetricSummary, std::less<>> result;
    for (auto const& [name, sum] : sums_) {
        auto summary = sum.summary;
        summary.avg = sum.total / static_cast<double>(summary.count);
        result.emplace_hint(result.end(), name, summary);
    }
    return result;
}

}  // namespace rollcall::streaming
