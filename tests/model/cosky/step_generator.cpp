#include <array>
#include <utility>

#include "model/cosky/step.hpp"

#include "rollcall/cosky/instance_id.hpp"

namespace rollcall::cosky::test {

namespace {

template <class Array>
auto const& pick(Array const& values, std::size_t random) {
    return values[random % std::size(values)];
}

/// How often each kind comes, of 100.
constexpr std::array<std::pair<Step::Kind, unsigned>, 25> frequencies{{
    {Step::Kind::register_instance, 16},
    {Step::Kind::renew, 14},
    {Step::Kind::renew_round, 8},
    {Step::Kind::deregister, 6},
    {Step::Kind::set_metadata, 5},
    {Step::Kind::merge_metadata, 4},
    {Step::Kind::set_service, 2},
    {Step::Kind::remove_service, 5},
    {Step::Kind::expire, 7},
    {Step::Kind::set_ttl, 4},
    {Step::Kind::set_renewal, 6},
    {Step::Kind::stat, 3},
    {Step::Kind::count, 1},
    {Step::Kind::stats, 1},
    {Step::Kind::instances, 4},
    {Step::Kind::instance, 2},
    {Step::Kind::sweep, 2},
    {Step::Kind::clean_up, 1},
    {Step::Kind::stray_member, 2},
    {Step::Kind::stale_service, 1},
    {Step::Kind::stale_stat, 1},
    {Step::Kind::set_field, 2},
    {Step::Kind::remove_field, 1},
    {Step::Kind::headless, 1},
    {Step::Kind::text, 1},
}};

/// The tolerances of the processes at the periods, in seconds. A TTL of the shortest could end.
constexpr std::array<long long, 4> tolerances{5, 22, 59, 202};

constexpr std::array<std::pair<std::string_view, std::string_view>, 11> odd_fields{{
    {"ephemeral", "TRUE"},
    {"ephemeral", "no"},
    {"port", "+8080"},
    {"port", "70000"},
    {"port", "80.0"},
    {"weight", "-3"},
    {"weight", "1.5"},
    {"ttl_at", "5"},
    {"ttl_at", "soon"},
    {"unknown", "x"},
    {"__more", "y"},
}};

constexpr std::array<std::string_view, 5> odd_renewals{"", "soon", "12x", "9999999999", "0"};
constexpr std::array<std::string_view, 5> removable{"ephemeral", "host", "serviceId", "_k",
                                                    renewal_field};
constexpr std::array<std::string_view, 3> odd_stats{"7", "-1", "many"};

}  // namespace

Step::Kind StepGenerator::kind() {
    auto left = below(100);
    for (auto const& [kind, frequency] : frequencies) {
        if (left < frequency) return kind;
        left -= frequency;
    }
    return frequencies.back().first;
}

Metadata StepGenerator::metadata() {
    switch (below(6)) {
        case 0:
            return {{"k", "10"}, {"r", "eu"}};
        case 1:
            return {{"", "empty"}, {"a__b", "1"}};
        case 2:
            return {{"k", "a\"b\\\n\x01\x7f\xc3\xa9\xf0\x9f\x98\x80"}};
        case 3:
            return {{"b_", ""}, {"k", "11"}};
        default:
            return {};
    }
}

ServiceInstance StepGenerator::instance(std::string const& id) {
    static constexpr std::array<int, 3> weights{1, 0, 2'147'483'647};
    auto const parts = parse_instance_id(id).value();
    ServiceInstance made;
    made.service_name = parts.service_name;
    made.instance_id = id;
    made.scheme = parts.scheme;
    made.host = parts.host;
    made.port = parts.port;
    made.weight = pick(weights, below(99));
    made.ephemeral = !chance(20);
    made.metadata = metadata();
    return made;
}

std::string StepGenerator::renewal(long long now) {
    if (chance(20)) return std::string{pick(odd_renewals, below(100))};
    auto const beside = static_cast<long long>(below(3)) - 1;
    return std::to_string(now + pick(tolerances, below(100)) + beside);
}

void StepGenerator::fill(Step& step, long long now) {
    using Kind = Step::Kind;
    switch (step.kind) {
        case Kind::register_instance:
        case Kind::renew:
            step.instance = instance(step.id);
            break;
        case Kind::renew_round:
            step.seconds = pick(model_periods, below(99));
            break;
        case Kind::deregister:
            if (chance(90)) step.service = parse_instance_id(step.id)->service_name;
            break;
        case Kind::set_metadata:
        case Kind::merge_metadata:
            step.metadata = metadata();
            break;
        case Kind::set_ttl:
            if (chance(70))
                step.seconds =
                    pick(tolerances, 1 + below(3)) - 1 + static_cast<long long>(below(3));
            prepared_ = step.id;
            break;
        case Kind::set_renewal:
            step.field = renewal_field;
            step.value = renewal(now);
            prepared_ = step.id;
            break;
        case Kind::stale_stat:
            step.value = pick(odd_stats, below(99));
            break;
        case Kind::set_field: {
            auto const& [field, value] = pick(odd_fields, below(110));
            step.field = field;
            step.value = value;
            break;
        }
        case Kind::remove_field:
            step.field = pick(removable, below(100));
            break;
        case Kind::expire:
        case Kind::stat:
        case Kind::stray_member:
        case Kind::stale_service:
            step.flag = chance(50);
            break;
        default:
            break;
    }
}

Step StepGenerator::next(long long now) {
    Step step;
    step.kind = kind();
    step.process = below(2);
    step.service = pick(model_services, below(100));
    step.id = pick(model_ids, below(100));
    if (!prepared_.empty() && chance(60)) {
        step.kind = chance(60) ? Step::Kind::renew : Step::Kind::renew_round;
        step.id = prepared_;
    }
    prepared_.clear();
    fill(step, now);
    return step;
}

}  // namespace rollcall::cosky::test
