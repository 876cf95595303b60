#include "streaming/rights.hpp"

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "streaming/scripts.hpp"
#include "streaming/service_keys.hpp"

namespace rollcall::streaming {
namespace {

using Severity = Finding::Severity;

constexpr std::size_t first_missing = 3;  // In the reply.
constexpr std::size_t examples_shown = 6;

std::string listed(redis::Value reply) {
    std::string text;
    for (std::size_t i = first_missing; i < reply.size(); ++i) {
        if (i > first_missing) text += ", ";
        if (i == first_missing + examples_shown) return text + "…";
        text += reply[i].text();
    }
    return text;
}

Finding may_not_publish(std::string const& prefix, std::string const& channel) {
    return make_finding(
        Severity::problem, "publish",
        "this user may not publish on channels such as " + channel +
            ": subscribers are not told of its changes; it lacks the ACL rule +publish or &" +
            ServiceKeys{prefix, "*"}.changes());
}

}  // namespace

Task<Result<std::vector<Finding>>> examine_rights(RegistryLuaScriptExecutor const& scripts,
                                                  Deadline deadline) {
    auto const& prefix = scripts.keys().prefix();
    ServiceKeys const keys{prefix, "any"};
    auto const sweep = prefix + ":rollcall:sweep";
    auto const index = scripts.keys().services_index();
    auto const heartbeats = keys.heartbeats();
    auto const hash = keys.instance("any");
    auto const channel = keys.changes();
    std::array<std::string_view, 5> const arguments{sweep, index, heartbeats, hash, channel};
    redis::Request request;
    redis::Response response;
    request.push_script(scripts::check_rights, {}, arguments);
    auto const outcome = co_await scripts.core().session().exec(request, response, deadline);
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
        findings.push_back(make_finding(
            Severity::warning, "wrong type",
            sweep + " holds another type than a string: everybody keeps house at the same time"));
    }
    if (reply[2].integer() != 1) findings.push_back(may_not_publish(prefix, channel));
    if (reply.size() > first_missing) {
        findings.push_back(make_finding(
            Severity::problem, "rights",
            "this user lacks rights to commands that registering and keeping house need: " +
                listed(reply)));
    }
    co_return findings;
}

}  // namespace rollcall::streaming
