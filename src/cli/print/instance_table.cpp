#include "cli/print/instance_table.hpp"

#include <algorithm>
#include <chrono>

#include "cli/parse.hpp"
#include "cli/print/json_output.hpp"

namespace rollcall::cli {

namespace {

std::string lease_text(Found const& found) {
    if (!found.lease) return "";
    return format_duration(std::chrono::ceil<std::chrono::seconds>(*found.lease));
}

std::string metadata_text(Metadata const& metadata) {
    std::string text;
    for (auto const& [key, value] : metadata) {
        if (!text.empty()) text += ' ';
        text += key + '=' + value;
    }
    return text;
}

}  // namespace

Found found_in(Snapshot const& view, ServiceInstance const& instance) {
    Found found;
    found.instance = instance;
    if (auto const state = view.state(instance.instance_id)) {
        found.state = *state;
        if (state->lease_until) {
            auto const left = *state->lease_until - std::chrono::steady_clock::now();
            found.lease = std::max(std::chrono::milliseconds{},
                                   std::chrono::duration_cast<std::chrono::milliseconds>(left));
        }
    }
    return found;
}

bool is_silent(Found const& found) noexcept {
    return found.lease && *found.lease <= std::chrono::milliseconds{};
}

bool is_available(Found const& found) noexcept {
    return found.instance.enabled && found.instance.healthy && !is_silent(found);
}

std::string state_text(Found const& found) {
    std::string text;
    auto const add = [&](std::string_view word) {
        if (!text.empty()) text += ',';
        text += word;
    };
    if (!found.instance.enabled) add("disabled");
    if (!found.instance.healthy) add("unhealthy");
    if (is_silent(found)) add("silent");
    if (found.state.suspect) add("suspect");
    return text.empty() ? "up" : text;
}

Table instance_table(std::span<Found const> instances, bool wide) {
    if (!wide) {
        Table table{{"ID", "ADDRESS", "WEIGHT", "STATE", "LEASE"}};
        for (auto const& found : instances) {
            auto const& instance = found.instance;
            table.add({instance.instance_id, uri(instance), std::to_string(instance.weight),
                       state_text(found), lease_text(found)});
        }
        return table;
    }
    Table table{{"SERVICE", "ID", "SCHEME", "HOST", "PORT", "WEIGHT", "STATE", "LEASE", "KIND",
                 "REGISTERED", "METADATA"}};
    for (auto const& found : instances) {
        auto const& instance = found.instance;
        auto const& registered = found.state.registered_at;
        table.add({instance.service_name, instance.instance_id, instance.scheme, instance.host,
                   std::to_string(instance.port), std::to_string(instance.weight),
                   state_text(found), lease_text(found),
                   instance.ephemeral ? "ephemeral" : "persistent",
                   registered ? iso_time(*registered) : "", metadata_text(instance.metadata)});
    }
    return table;
}

}  // namespace rollcall::cli
