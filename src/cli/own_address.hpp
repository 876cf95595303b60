#pragma once

#include <string>
#include <vector>

#include "core/deadline.hpp"

namespace rollcall::redis {
class ClientCore;
}

namespace rollcall::cli {

/// The address that an instance on this machine is registered under when none was given: the local
/// end of the connection to Redis, or of the route to it while it cannot be reached; if that is
/// loopback or Redis is on a unix socket, the first other address of this machine.
///
/// Waits for the connection, and for the name of Redis, until `deadline` at most.
/// Errors: `UsageError` when there is no other address.
std::string own_address(redis::ClientCore& core, Deadline deadline);

/// Loopback, or no usable address at all.
bool is_local_only(std::string const& address);

/// Of interfaces that are up, IPv4 before IPv6, without loopback and link-local ones.
std::vector<std::string> interface_addresses();

/// Where packets to `host` would leave from; empty when there is no route, no such host, or no
/// answer about it by `deadline`.
std::string route_address(std::string const& host, int port, Deadline deadline);

}  // namespace rollcall::cli
