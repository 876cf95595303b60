#include "rollcall/cosky/config.hpp"

#include <string>

#include "core/text.hpp"

namespace rollcall::cosky {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds min_instance_ttl{1'000};

std::string in_milliseconds(milliseconds time) { return std::to_string(time.count()) + " ms"; }

void check_range(std::string_view field, milliseconds given, milliseconds lowest,
                 milliseconds highest) {
    if (given < lowest || given > highest) {
        refuse(field, in_milliseconds(given),
               "must be between " + in_milliseconds(lowest) + " and " + in_milliseconds(highest));
    }
}

}  // namespace

void validate(RegistryProperties const& properties) {
    check_range("instance ttl", properties.instance_ttl, min_instance_ttl, max_instance_ttl);
}

void validate(RenewProperties const& properties, RegistryProperties const& registry) {
    check_range("renewal delay", properties.initial_delay, milliseconds{0}, max_instance_ttl);
    check_range("sweep period", properties.sweep_period, milliseconds{0}, max_instance_ttl);
    constexpr std::string_view field = "renewal period";
    auto const text = in_milliseconds(properties.period);
    if (properties.period.count() < 1) refuse(field, text, "must be at least 1 ms");
    if (properties.period >= registry.instance_ttl) {
        refuse(
            field, text,
            "must be shorter than the instance ttl of " + in_milliseconds(registry.instance_ttl));
    }
}

}  // namespace rollcall::cosky
