#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "core/deadline.hpp"

namespace rollcall::redis {

class Link;

/// Keeps the connections of a client at one server, the one to which its address leads. A fail-over
/// that moves the address does not close what is open, and what is open works: on one server
/// written, and on another listened.
///
/// Seldom and seldomer, for an address may lead to several for good.
///
/// Thread safety: the I/O thread only.
class ServerWatch {
public:
    void add(Link& link) { links_.push_back(&link); }
    void remove(Link& link) { std::erase(links_, &link); }

    /// Whether no two of them are known to be at different servers. Otherwise the older is given
    /// up, when it is time again. Without INFO nobody knows.
    bool together();
    /// A server has refused to write because it is a replica: all look again where the address
    /// leads, when it is time again.
    void refused_to_write();

private:
    bool may_part(Deadline now);

    std::vector<Link*> links_;
    std::optional<Deadline> parted_at_;
    std::chrono::milliseconds pause_ = {};
};

}  // namespace rollcall::redis
