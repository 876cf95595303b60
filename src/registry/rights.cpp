#include "registry/rights.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string_view>
#include <utility>

#include "redis/request.hpp"
#include "redis/response.hpp"
#include "registry/scripts.hpp"

namespace rollcall {
namespace {

using Severity = Finding::Severity;

constexpr std::size_t examples_shown = 6;

std::vector<std::string> arguments_of(NeededRights const& needed) {
    std::vector<std::string> arguments{needed.sweep, std::to_string(needed.channels.size())};
    for (auto const& channel : needed.channels) arguments.push_back(channel.name);
    for (auto const& command : needed.commands) {
        arguments.push_back(std::to_string(command.words.size()));
        std::ranges::copy(command.words, std::back_inserter(arguments));
    }
    return arguments;
}

/// Those of `all` whose numbers Redis replied.
template <class T>
std::vector<T> chosen(std::vector<T> const& all, redis::Value numbers) {
    std::vector<T> result;
    for (auto const number : numbers) {
        auto const at = static_cast<std::size_t>(number.integer() - 1);
        if (at < all.size()) result.push_back(all[at]);
    }
    return result;
}

Finding may_not_publish(std::vector<NeededRights::Channel> const& channels) {
    std::string names;
    std::string rules;
    for (auto const& channel : channels) {
        names += (names.empty() ? "" : " and ") + channel.name;
        rules += " &" + channel.rule;
    }
    return make_finding(Severity::problem, "publish",
                        "this user may not publish on channels such as " + names +
                            ": subscribers are not told of its changes; it lacks the ACL rule "
                            "+publish or" +
                            rules);
}

Finding may_not_call(std::vector<NeededRights::Command> const& commands) {
    std::string text;
    for (std::size_t i = 0; i < commands.size(); ++i) {
        if (i > 0) text += ", ";
        if (i == examples_shown) {
            text += "…";
            break;
        }
        text += commands[i].words.front();
        if (!commands[i].key.empty()) text += " " + commands[i].key;
    }
    return make_finding(Severity::problem, "rights",
                        "this user lacks rights to commands that registering and keeping house "
                        "need: " +
                            text);
}

}  // namespace

void NeededRights::add(std::string name, std::string const& key, std::vector<std::string> further) {
    Command command;
    command.key = key;
    command.words = {std::move(name), key};
    std::ranges::move(further, std::back_inserter(command.words));
    commands.push_back(std::move(command));
}

void NeededRights::add_usual() {
    commands.push_back({{"TIME"}, {}});
    add("GET", sweep);
    add("SET", sweep, {""});
    add("DEL", sweep);
}

Task<Result<std::vector<Finding>>> examine_rights(redis::Session& session,
                                                  NeededRights const& needed, Deadline deadline) {
    auto const arguments = arguments_of(needed);
    std::vector<std::string_view> const views{arguments.begin(), arguments.end()};
    redis::Request request;
    redis::Response response;
    request.push_script(scripts::check_rights, {}, views);
    auto const outcome = co_await session.exec(request, response, deadline);
    if (outcome.has_error()) co_return outcome.error();

    std::vector<Finding> findings;
    auto const reply = response[0];
    if (reply.is_error()) {
        findings.push_back(make_finding(
            Severity::problem, "scripts",
            "Redis does not run the scripts that write everything: " + std::string{reply.text()}));
        co_return findings;
    }
    if (auto const refusal = reply[0].text(); !refusal.empty()) {
        findings.push_back(make_finding(Severity::problem, "write",
                                        "Redis takes no writes: " + std::string{refusal}));
    }
    if (reply[1].integer() == 1) {
        findings.push_back(make_finding(Severity::warning, "wrong type",
                                        needed.sweep +
                                            " holds another type than a string: everybody keeps "
                                            "house at the same time"));
    }
    auto const silent = chosen(needed.channels, reply[2]);
    if (!silent.empty()) findings.push_back(may_not_publish(silent));
    auto const missing = chosen(needed.commands, reply[3]);
    if (!missing.empty()) findings.push_back(may_not_call(missing));
    co_return findings;
}

}  // namespace rollcall
