#include "cli/print/json_output.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/string.hpp>
#include <fmt/format.h>
#include <iterator>

#include "cli/print/text.hpp"
#include "core/text.hpp"

namespace rollcall::cli {

namespace json = boost::json;

namespace {

/// Unprintable characters stand only inside strings of a serialised document.
void append_escaped(std::string& to, char32_t c) {
    auto const unit = [&](unsigned value) {
        fmt::format_to(std::back_inserter(to), "\\u{:04x}", value);
    };
    auto const value = static_cast<unsigned>(c);
    if (value < 0x10000) return unit(value);
    unit(0xD800 + ((value - 0x10000) >> 10));
    unit(0xDC00 + ((value - 0x10000) & 0x3FF));
}

}  // namespace

json::value json_text(std::string_view text) { return json::string{to_utf8(text)}; }

std::string to_document(json::value const& value) {
    auto const serialized = json::serialize(value);
    std::string document;
    document.reserve(serialized.size() + 1);
    for (std::size_t at = 0; at < serialized.size();) {
        auto const begin = at;
        auto const c = next_code_point(serialized, at);
        if (is_unprintable(c)) {
            append_escaped(document, c);
        } else {
            document.append(serialized, begin, at - begin);
        }
    }
    return document + '\n';
}

std::string iso_time(std::chrono::system_clock::time_point time) {
    using namespace std::chrono;
    auto const exact = floor<milliseconds>(time);
    auto const day = floor<days>(exact);
    year_month_day const date{day};
    hh_mm_ss const clock{exact - day};
    return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", static_cast<int>(date.year()),
                       static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                       clock.hours().count(), clock.minutes().count(), clock.seconds().count(),
                       clock.subseconds().count());
}

json::value instance_json(Found const& found) {
    auto const& instance = found.instance;
    json::object metadata;
    for (auto const& [key, value] : instance.metadata) {
        metadata.insert_or_assign(to_utf8(key), json_text(value));
    }
    json::object object;
    object["service"] = json_text(instance.service_name);
    object["id"] = json_text(instance.instance_id);
    object["scheme"] = json_text(instance.scheme);
    object["host"] = json_text(instance.host);
    object["port"] = instance.port;
    object["weight"] = instance.weight;
    object["ephemeral"] = instance.ephemeral;
    object["enabled"] = instance.enabled;
    object["healthy"] = instance.healthy;
    object["metadata"] = std::move(metadata);
    object["lease_ms"] = found.lease ? json::value(found.lease->count()) : json::value();
    auto const& registered = found.state.registered_at;
    object["registered_at"] = registered ? json_text(iso_time(*registered)) : json::value();
    return object;
}

json::value instances_json(std::span<Found const> instances) {
    json::array array;
    for (auto const& found : instances) array.push_back(instance_json(found));
    return array;
}

}  // namespace rollcall::cli
