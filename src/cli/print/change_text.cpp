#include "cli/print/change_text.hpp"

#include <boost/json/object.hpp>
#include <fmt/format.h>
#include <string_view>
#include <vector>

#include "cli/print/instance_table.hpp"
#include "cli/print/json_output.hpp"
#include "cli/print/text.hpp"

namespace rollcall::cli {

namespace {

using Clock = std::chrono::system_clock;

void add_changed_metadata(Metadata const& before, Metadata const& after,
                          std::vector<std::string>& changed) {
    for (auto const& [key, value] : after) {
        auto const old = before.find(key);
        if (old == before.end() || old->second != value) changed.push_back(key + '=' + value);
    }
    for (auto const& [key, value] : before) {
        if (!after.contains(key)) changed.push_back(key + " removed");
    }
}

/// What is new about it.
std::string difference(ServiceInstance const& before, ServiceInstance const& after) {
    std::vector<std::string> changed;
    if (uri(before) != uri(after)) changed.push_back("was " + uri(before));
    if (before.weight != after.weight)
        changed.push_back("weight was " + std::to_string(before.weight));
    if (before.enabled != after.enabled)
        changed.emplace_back(after.enabled ? "enabled" : "disabled");
    if (before.healthy != after.healthy)
        changed.emplace_back(after.healthy ? "healthy" : "unhealthy");
    if (before.ephemeral != after.ephemeral) {
        changed.emplace_back(after.ephemeral ? "ephemeral" : "persistent");
    }
    add_changed_metadata(before.metadata, after.metadata, changed);
    return changed.empty() ? "is back" : fmt::format("{}", fmt::join(changed, ", "));
}

std::string why(Change const& change) {
    switch (change.kind) {
        case ChangeKind::removed:
            return std::string{to_string(change.reason)};
        case ChangeKind::suspect:
            return "Redis may have lost it";
        case ChangeKind::resync:
            return "changes came too fast; what is there now follows";
        case ChangeKind::updated:
            return change.previous ? difference(*change.previous, *change.instance) : "";
        case ChangeKind::current:
        case ChangeKind::added:
            break;
    }
    return "";
}

/// Rows come one by one: columns have a least width each, which long cells exceed.
std::string row(std::vector<std::string> const& cells) {
    constexpr std::size_t widths[] = {24, 7, 12, 20, 26, 6, 8, 0};
    std::string line;
    for (std::size_t i = 0; i < cells.size(); ++i) {
        auto const cell = terminal_safe(cells[i]);
        line += cell;
        auto const width = columns(cell);
        if (width < widths[i]) line.append(widths[i] - width, ' ');
        line += "  ";
    }
    line.erase(line.find_last_not_of(' ') + 1);
    return line;
}

}  // namespace

std::string change_heading() {
    return row({"TIME", "EVENT", "SERVICE", "ID", "ADDRESS", "WEIGHT", "STATE", "WHY"});
}

std::string change_line(std::string const& service, Change const& change, Clock::time_point at) {
    std::string const kind{to_string(change.kind)};
    if (!change.instance) return row({iso_time(at), kind, service, "", "", "", "", why(change)});
    auto const found = found_in(change.now, *change.instance);
    auto const& instance = found.instance;
    auto const state = change.kind == ChangeKind::removed ? "gone" : state_text(found);
    return row({iso_time(at), kind, service, instance.instance_id, uri(instance),
                std::to_string(instance.weight), state, why(change)});
}

boost::json::value change_json(std::string const& service, Change const& change,
                               Clock::time_point at) {
    using std::chrono::milliseconds;
    boost::json::object object;
    object["event"] = json_text(to_string(change.kind));
    object["service"] = json_text(service);
    object["reason"] = change.reason == RemovalReason::none ? boost::json::value()
                                                            : json_text(to_string(change.reason));
    object["at_ms"] = std::chrono::duration_cast<milliseconds>(at.time_since_epoch()).count();
    if (change.instance) object["instance"] = instance_json(found_in(change.now, *change.instance));
    return object;
}

}  // namespace rollcall::cli
