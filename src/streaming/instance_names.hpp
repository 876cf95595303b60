#pragma once

#include <string>

#include "rollcall/instance.hpp"

namespace rollcall::streaming {

/// The names under which an instance is stored.
struct InstanceNames {
    std::string service = {};
    std::string id = {};
};

/// Sanitised; an empty id becomes the one that a registration makes of the address, if a host is
/// given. Nothing else of the instance is looked at.
///
/// Errors: `std::invalid_argument` for names that may not be stored, and for an address that no
/// registration accepts where the id has to be made of it.
InstanceNames stored_names(ServiceInstance const& instance);

}  // namespace rollcall::streaming
