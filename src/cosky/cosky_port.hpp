#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "redis/client_core.hpp"
#include "registry/layout_port.hpp"

#include "rollcall/cosky/namespaced.hpp"

namespace rollcall::cosky {

struct CoskyPortOptions {
    std::string ns{Namespaced::default_namespace};
    /// Of ephemeral instances: from 1 s to ten years, parts of a second rounded up.
    std::chrono::milliseconds lease{60'000};
    /// How often instances are renewed: decides how early a renewal is published.
    std::chrono::milliseconds heartbeat{10'000};
};

/// Errors: `std::invalid_argument` for an option, whatever the heartbeat.
void validate(CoskyPortOptions const& options);

/// This layout behind the neutral port. Errors: `std::invalid_argument` for an option.
///
/// It stores neither `enabled` nor `healthy` nor metrics. Conditions on metadata are evaluated
/// here, by the rules of the other layout's queries.
std::unique_ptr<LayoutPort> make_cosky_port(std::shared_ptr<redis::ClientCore> core,
                                            CoskyPortOptions const& options);

}  // namespace rollcall::cosky
