#include "health/target.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "core/checks.hpp"
#include "core/text.hpp"

#include "rollcall/protocol.hpp"

namespace rollcall::health {
namespace {

using std::chrono::milliseconds;

milliseconds within_range(milliseconds limit) {
    constexpr milliseconds usual{5000};
    return limit.count() <= 0 ? usual : std::min(limit, milliseconds{std::chrono::hours{1}});
}

}  // namespace

HealthCheckerOptions within_range(HealthCheckerOptions options) {
    options.connect_timeout = within_range(options.connect_timeout);
    options.read_timeout = within_range(options.read_timeout);
    return options;
}

Target target_of(ServiceInstance const& instance) {
    Target target{instance.host, effective_port(instance.scheme, instance.port), {}};
    try {
        check_host(instance.host);
        if (target.port <= 0 || target.port > std::numeric_limits<std::uint16_t>::max()) {
            refuse("port", target.port, "must be from 1 to 65535");
        }
    } catch (std::invalid_argument const& error) {
        target.failure = error.what();  // It came from a peer: a verdict on that, not on the call.
    }
    return target;
}

Question question_for(std::string_view scheme) {
    auto const name = lower_case(scheme);
    if (name == "https") return Question::https;
    return name == "http" ? Question::http : Question::connect;
}

}  // namespace rollcall::health
