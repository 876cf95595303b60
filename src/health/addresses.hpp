#pragma once

#include <boost/asio/ip/address.hpp>
#include <chrono>
#include <string>
#include <vector>

namespace rollcall::health {

/// The addresses of `host`, which is a name or an address; none when they are not found within
/// `limit`, and `failure` says why then. A name is looked up on a thread of its own, which may
/// outlast that: the system's resolver cannot be interrupted.
std::vector<boost::asio::ip::address> addresses_of(std::string const& host,
                                                   std::chrono::milliseconds limit,
                                                   std::string& failure);

}  // namespace rollcall::health
