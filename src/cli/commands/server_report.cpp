#include "cli/commands/server_report.hpp"

#include <charconv>
#include <fmt/format.h>

#include "redis/client_core.hpp"

namespace rollcall::cli {

namespace {

using Severity = Finding::Severity;
using std::chrono::microseconds;

constexpr int oldest_version = 7;
constexpr std::chrono::seconds tolerated_skew{2};
constexpr double mebibyte = 1024.0 * 1024.0;
constexpr double much_memory = 0.9;

microseconds now() {
    return std::chrono::duration_cast<microseconds>(
        std::chrono::system_clock::now().time_since_epoch());
}

void read_info(std::string_view text, ServerFacts& facts) {
    while (!text.empty()) {
        auto const line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(line.size() + 1, text.size()));
        auto const colon = line.find(':');
        if (colon == std::string_view::npos || line.starts_with('#')) continue;
        auto value = line.substr(colon + 1);
        if (value.ends_with('\r')) value.remove_suffix(1);
        facts.info.insert_or_assign(std::string{line.substr(0, colon)}, std::string{value});
    }
}

void read_time(redis::Value const& reply, ServerFacts& facts) {
    if (!reply.is_aggregate() || reply.size() != 2) return;
    auto element = reply.begin();
    std::chrono::seconds const seconds{(*element).integer()};
    ++element;
    facts.clock = seconds + microseconds{(*element).integer()};
}

int major_version(std::string_view version) {
    int major = 0;
    std::from_chars(version.data(), version.data() + version.size(), major);
    return major;
}

Finding version_finding(ServerFacts const& facts) {
    auto const version = facts.value("redis_version");
    auto const valkey = facts.value("valkey_version");
    auto const name = valkey.empty() ? fmt::format("Redis {}", version)
                                     : fmt::format("Valkey {} (Redis {})", valkey, version);
    if (major_version(version) >= oldest_version)
        return make_finding(Severity::ok, "version", name);
    return make_finding(Severity::problem, "version",
                        fmt::format("{}: Redis {} or later is needed", name, oldest_version));
}

Finding role_finding(ServerFacts const& facts) {
    if (facts.value("cluster_enabled") == "1") {
        return make_finding(Severity::problem, "role",
                            "Redis Cluster is not supported in this version");
    }
    auto const role = facts.value("role");
    if (role == "master") return make_finding(Severity::ok, "role", "master");
    return make_finding(Severity::problem, "role",
                        fmt::format("{}: a replica takes no registrations", role));
}

Finding persistence_finding(ServerFacts const& facts) {
    constexpr auto topic = "persistence";
    if (facts.value("rdb_last_bgsave_status") == "err") {
        return make_finding(Severity::warning, topic,
                            "the last snapshot failed; Redis may refuse writes until one succeeds");
    }
    if (facts.value("aof_enabled") != "1") {
        return make_finding(Severity::note, topic,
                            "no append-only file: after a restart, entries come back only with the "
                            "next heartbeats of their owners");
    }
    if (facts.value("aof_last_write_status") == "err") {
        return make_finding(Severity::warning, topic, "the append-only file cannot be written");
    }
    return make_finding(Severity::ok, topic, "append-only file");
}

std::int64_t number(std::string_view text) {
    std::int64_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

/// None where memory has no limit, and where eviction is what happens at it.
std::optional<Finding> memory_finding(ServerFacts const& facts) {
    auto const used = number(facts.value("used_memory"));
    auto const most = number(facts.value("maxmemory"));
    if (most <= 0 || facts.value("maxmemory_policy") != "noeviction") return std::nullopt;
    auto const text =
        fmt::format("{:.1f} of {:.1f} MiB (maxmemory) are used",
                    static_cast<double>(used) / mebibyte, static_cast<double>(most) / mebibyte);
    if (used >= most) {
        return make_finding(Severity::problem, "memory", text + ": Redis takes no registrations");
    }
    bool const scarce = static_cast<double>(used) > much_memory * static_cast<double>(most);
    return make_finding(scarce ? Severity::warning : Severity::ok, "memory", text);
}

std::optional<Finding> clock_finding(ServerFacts const& facts) {
    if (!facts.clock) return std::nullopt;
    auto const skew = *facts.clock - facts.local_clock;
    auto const text = fmt::format("this machine's clock is {:.3f} s {} that of Redis",
                                  std::abs(static_cast<double>(skew.count()) / 1e6),
                                  skew.count() > 0 ? "behind" : "ahead of");
    auto const large = std::chrono::abs(skew) > tolerated_skew;
    return make_finding(large ? Severity::warning : Severity::ok, "clock", text);
}

}  // namespace

std::string_view ServerFacts::value(std::string_view name) const {
    auto const line = info.find(name);
    return line == info.end() ? std::string_view{} : std::string_view{line->second};
}

Task<Result<ServerFacts>> server_facts(redis::ClientCore& core, Deadline deadline) {
    redis::Response response;
    // The first answer may have waited for the connection: only the second is timed.
    redis::Request ping;
    ping.push("PING");
    auto const reached = co_await core.session().exec(ping, response, deadline);
    if (!reached) co_return reached.error();
    if (response[0].is_error()) co_return redis::failure_of(response[0], "PING");

    redis::Request request;
    request.push("TIME");
    request.push("INFO");
    auto const begin = now();
    auto const asked = co_await core.session().exec(request, response, deadline);
    if (!asked) co_return asked.error();
    ServerFacts facts;
    facts.round_trip = now() - begin;
    facts.local_clock = begin + facts.round_trip / 2;
    read_time(response[0], facts);
    if (response[1].is_error()) {
        facts.info_refusal = response[1].text();
    } else {
        read_info(response[1].text(), facts);
    }
    co_return facts;
}

std::optional<Finding> eviction_finding(ServerFacts const& facts) {
    auto const policy = facts.value("maxmemory_policy");
    if (policy.empty() || policy == "noeviction") return std::nullopt;
    return make_finding(
        Severity::warning, "eviction",
        fmt::format("maxmemory-policy {} lets Redis drop entries of the registry when "
                    "memory is short; it should be noeviction",
                    policy));
}

std::vector<Finding> server_findings(ServerFacts const& facts) {
    std::vector<Finding> findings;
    if (!facts.info_refusal.empty()) {
        findings.push_back(make_finding(
            Severity::note, "INFO",
            "version, role, persistence and eviction policy are not known: " + facts.info_refusal));
    } else {
        findings.push_back(version_finding(facts));
        findings.push_back(role_finding(facts));
        findings.push_back(persistence_finding(facts));
        auto eviction = eviction_finding(facts);
        findings.push_back(eviction ? *std::move(eviction)
                                    : make_finding(Severity::ok, "eviction", "noeviction"));
        if (auto memory = memory_finding(facts)) findings.push_back(*std::move(memory));
    }
    if (auto clock = clock_finding(facts)) findings.push_back(*std::move(clock));
    return findings;
}

}  // namespace rollcall::cli
