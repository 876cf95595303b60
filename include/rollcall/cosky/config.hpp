#pragma once

#include <chrono>

#pragma GCC visibility push(default)

namespace rollcall::cosky {

/// Source: seed 003, "RegistryProperties".
struct RegistryProperties {
    /// How long an ephemeral instance lives without renewal. At least 1 s; parts of a second are
    /// rounded up.
    std::chrono::milliseconds instance_ttl{60'000};
    /// A renewal that finds an own ephemeral instance persistent makes it ephemeral again, with our
    /// description. False: it is left to whoever did that, and renewed no more.
    bool reclaim_persistent = true;
};

/// Source: seed 003, "RenewInstanceService".
struct RenewProperties {
    std::chrono::milliseconds initial_delay{1'000};
    /// From the beginning of a round to that of the next; up to a tenth shorter, at random. Must be
    /// shorter than the `instance_ttl` of what is renewed.
    std::chrono::milliseconds period{10'000};
    /// The namespaces that are renewed in are also swept, so long apart, first after that time:
    /// what has expired there leaves its list and is announced, also where nobody reads. Of all
    /// processes one sweeps a namespace. 0: never.
    std::chrono::milliseconds sweep_period{30'000};
};

/// The longest `instance_ttl`: ten years.
inline constexpr std::chrono::milliseconds max_instance_ttl = std::chrono::hours{24 * 3'650};

/// Errors: `std::invalid_argument` with field, value and rule for an `instance_ttl` below 1 s or
/// above `max_instance_ttl`, a delay or a `sweep_period` below zero or above that, a period below
/// 1 ms or not shorter than the `instance_ttl`.
void validate(RegistryProperties const& properties);
void validate(RenewProperties const& properties, RegistryProperties const& registry);

}  // namespace rollcall::cosky

#pragma GCC visibility pop
