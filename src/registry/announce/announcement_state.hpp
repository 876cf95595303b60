#pragma once

#include <memory>

#include "registry/announce/announcer.hpp"
#include "registry/announce/record.hpp"

#include "rollcall/instance.hpp"

namespace rollcall::announce {

/// What an `Announcement` is.
struct AnnouncementState {
    std::shared_ptr<Announcer> announcer = {};
    std::shared_ptr<Record> record = {};
    ServiceInstance wanted = {};
    bool released = false;
};

}  // namespace rollcall::announce
