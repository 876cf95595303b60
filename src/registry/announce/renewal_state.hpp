#pragma once

#include <memory>

#include "registry/announce/announcer.hpp"
#include "registry/announce/record.hpp"

namespace rollcall::announce {

/// What a `Renewal` is.
struct RenewalState {
    std::shared_ptr<Announcer> announcer = {};
    std::shared_ptr<Record> record = {};
};

}  // namespace rollcall::announce
