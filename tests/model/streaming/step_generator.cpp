#include <array>
#include <cmath>
#include <utility>

#include "model/streaming/step.hpp"

namespace rollcall::test {

namespace {

template <class Array>
auto const& pick(Array const& values, std::size_t random) {
    return values[random % std::size(values)];
}

/// How often each kind comes, of 100.
constexpr std::array<std::pair<Step::Kind, unsigned>, 17> frequencies{{
    {Step::Kind::register_instances, 19},
    {Step::Kind::deregister, 6},
    {Step::Kind::heartbeat, 14},
    {Step::Kind::describe, 7},
    {Step::Kind::expire, 6},
    {Step::Kind::shorten_ttl, 6},
    {Step::Kind::cleanup, 8},
    {Step::Kind::phantom, 4},
    {Step::Kind::stray_member, 2},
    {Step::Kind::stale_index, 2},
    {Step::Kind::set_field, 7},
    {Step::Kind::remove_field, 2},
    {Step::Kind::discover, 3},
    {Step::Kind::query, 8},
    {Step::Kind::list, 2},
    {Step::Kind::update, 2},
    {Step::Kind::remove_phantom, 2},
}};

constexpr std::array<std::pair<std::string_view, std::string_view>, 24> odd_fields{{
    {"healthy", "false"},
    {"healthy", "false"},
    {"ephemeral", "TRUE"},
    {"ephemeral", "no"},
    {"port", "8080.0"},
    {"port", "+8080"},
    {"port", "0"},
    {"port", "70000"},
    {"weight", "1.5"},
    {"protocol", "GRPC"},
    {"protocol", "nope"},
    {"metadata", ""},
    {"metadata", "garbage"},
    {"metadata", "null"},
    {"metadata", "[]"},
    {"metadata", R"({"k":true,"r":null})"},
    {"metadata", R"({"k":45,"r":"eu"})"},
    {"metadata", R"({"k":{"a":1},"r":[1,"x"]})"},
    {"metadata", R"({"k":"10","u":"http:\/\/x"})"},
    {"metadata_k", "10"},
    {"metrics", R"({"cpu":45.5})"},
    {"metrics", R"({"cpu":"90","cpu.load":1})"},
    {"metrics", "garbage"},
    {"lastHeartbeatTime", "1.7e12"},
}};

constexpr std::array<std::string_view, 12> filter_keys{"k",    "k:==", "k:!=",        "k:>",
                                                       "k:>=", "k:<",  "k:<=",        "r",
                                                       "r:!=", "q:>=", "my:field:>=", "my:field"};
constexpr std::array<std::string_view, 12> filter_values{
    "10", "10.0", "9", "9a", "45", "abc", "true", "", "eu", "0x10", "nan", "1e1"};
constexpr std::array<std::string_view, 4> metrics_keys{"cpu:<", "cpu:>=", "cpu", "cpu.load"};
constexpr std::array<std::string_view, 4> metrics_values{"50", "45.5", "90", "1"};

}  // namespace

std::string StepGenerator::service() { return std::string{pick(model_services, below(100))}; }

std::string StepGenerator::id() { return std::string{pick(model_ids, below(99))}; }

Metadata StepGenerator::metadata() {
    switch (below(8)) {
        case 0:
            return {{"k", "10"}, {"my:field", "20"}, {"r", "eu"}};
        case 1:
            return {{"k", "9"}, {"url", "http://x/y"}};
        case 2:
            return {{"k", "abc"}, {"q", "a\"b\\\n\x01\x7f\xc3\xa9\xf0\x9f\x98\x80"}};
        case 3:
            return {{"k", " 10 "}};
        case 4:
            return {{"k", "0x10"}, {"r", ""}};
        case 5:
            return {{"k", "nan"}, {"r", "us"}};
        default:
            return {};
    }
}

ServiceInstance StepGenerator::instance() {
    static constexpr std::array<std::string_view, 5> hosts{"10.0.0.5", "10.0.0.6", "h", "::1", ""};
    static constexpr std::array<std::string_view, 4> schemes{"http", "https", "grpc",
                                                             "redis-stream"};
    static constexpr std::array<int, 3> ports{8080, 0, 1};
    static constexpr std::array<int, 3> weights{1, -5, 2'147'483'647};
    ServiceInstance made;
    made.service_name = service();
    made.instance_id = id();
    made.host = pick(hosts, below(chance(10) ? hosts.size() : hosts.size() - 1));
    made.scheme = pick(schemes, below(100));
    made.port = pick(ports, below(99));
    made.weight = pick(weights, below(99));
    made.ephemeral = !chance(30);
    made.enabled = !chance(15);
    made.healthy = !chance(15);
    made.metadata = metadata();
    return made;
}

long long StepGenerator::timeout(ReferenceModel const& model, std::string const& service) {
    static constexpr std::array<long long, 4> ordinary{90'000, 90'000, 2'000, 1};
    auto const found = model.state().heartbeats.find(service);
    if (found == model.state().heartbeats.end() || chance(40)) return pick(ordinary, below(100));
    // So that the bound falls on a score, or just beside it.
    auto at = found->second.begin();
    std::advance(at, below(found->second.size()));
    auto const score = static_cast<long long>(std::floor(at->second));
    auto const chosen = now_ - score + static_cast<long long>(below(3)) - 1;
    return chosen > 0 ? chosen : 90'000;
}

ReferenceModel::Filters StepGenerator::filters(bool metrics) {
    ReferenceModel::Filters made;
    for (auto count = below(3); count > 0; --count) {
        if (metrics) {
            made.emplace_back(pick(metrics_keys, below(100)), pick(metrics_values, below(100)));
        } else {
            made.emplace_back(pick(filter_keys, below(100)), pick(filter_values, below(96)));
        }
    }
    return made;
}

void StepGenerator::fill_phantom(Step& step) {
    step.flag = chance(60);
    step.score = static_cast<double>(now_ - static_cast<long long>(below(3)) * 90'000);
    if (chance(50)) {
        step.fields = {{"healthy", "false"}};
    } else if (chance(50)) {
        step.fields = {{"metrics", R"({"clientInflight":1})"}};
    } else {
        step.fields = {{"healthy", "false"}, {"lastHeartbeatTime", std::to_string(now_)}};
    }
}

void StepGenerator::fill_field(Step& step) {
    if (step.kind == Step::Kind::remove_field) {
        step.field = chance(50) ? "ephemeral" : chance(50) ? "host" : "metadata";
        return;
    }
    auto const& [field, value] = pick(odd_fields, below(240));
    step.field = field;
    step.fields = {{step.field, std::string{value}}};
}

void StepGenerator::fill(Step& step, ReferenceModel const& model) {
    using Kind = Step::Kind;
    switch (step.kind) {
        case Kind::register_instances:
            for (auto count = chance(80) ? 1 : 2 + below(2); count > 0; --count) {
                step.instances.push_back(instance());
            }
            break;
        case Kind::deregister:
            step.instances.push_back(instance());
            break;
        case Kind::heartbeat:
        case Kind::describe:
            for (auto count = chance(50) ? 1 : 2 + below(4); count > 0; --count) {
                step.instances.push_back(instance());
            }
            if (chance(10)) step.now -= 5'000;  // A slower clock than before.
            break;
        case Kind::cleanup:
        case Kind::discover:
            step.timeout = timeout(model, step.service);
            break;
        case Kind::query:
            step.timeout = timeout(model, step.service);
            step.metadata_filters = filters(false);
            step.metrics_filters = chance(30) ? filters(true) : ReferenceModel::Filters{};
            break;
        case Kind::phantom:
            fill_phantom(step);
            break;
        case Kind::stray_member:
            step.score = chance(30) ? -5.0 : static_cast<double>(now_ - 90'000) + 0.5;
            break;
        case Kind::expire:
        case Kind::stale_index:
            step.flag = chance(50);
            break;
        case Kind::set_field:
        case Kind::remove_field:
            fill_field(step);
            break;
        case Kind::update:
            if (chance(50)) step.fields["metadata"] = verbatim_metadata(metadata());
            if (step.fields.empty() || chance(30)) step.fields["enabled"] = "false";
            break;
        case Kind::shorten_ttl:
        case Kind::list:
        case Kind::remove_phantom:
            break;
    }
}

Step StepGenerator::next(ReferenceModel const& model) {
    static constexpr std::array<long long, 8> passing{1,      1,      7,      1'000,
                                                      30'000, 89'999, 90'000, 90'001};
    Step step;
    auto left = below(100);
    for (auto const& [kind, frequency] : frequencies) {
        step.kind = kind;
        if (left < frequency) break;
        left -= frequency;
    }
    now_ += pick(passing, below(800));
    step.now = now_;
    step.service = service();
    step.id = id();
    step.lease = pick(model_leases, below(90));
    fill(step, model);
    return step;
}

}  // namespace rollcall::test
