#pragma once

#include <boost/redis/connection.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>

// Boost.Redis takes the limit of what a connection may hold unread when a run begins, and has no
// member to change it. Before the log-in a peer may be anybody, and must not make us hold as much
// as Redis may: so the limit is raised behind the log-in, through the member that holds the parts
// of a connection. The standard lets an explicit instantiation name it; a Boost without it does not
// compile.

namespace rollcall::redis {

using Connection = boost::redis::basic_connection<boost::asio::io_context::executor_type>;
using ConnectionParts = boost::redis::detail::connection_impl<Connection::executor_type>;

ConnectionParts& parts_of(Connection& connection) noexcept;

template <std::unique_ptr<ConnectionParts> Connection::* Parts>
struct GrantParts {
    friend ConnectionParts& parts_of(Connection& connection) noexcept {
        return *(connection.*Parts);
    }
};
template struct GrantParts<&Connection::impl_>;

/// Replies of up to `bytes` are read from now on, until the next run.
inline void set_read_limit(Connection& connection, boost::redis::config config, std::size_t bytes) {
    config.max_read_size = bytes;
    parts_of(connection).st_.mpx.set_config(config);
}

/// Bytes of the reply that is coming in.
inline std::size_t unread_bytes(Connection& connection) {
    return parts_of(connection).st_.mpx.get_read_buffer_size();
}

struct Received {
    std::uint64_t answers = 0;  ///< Complete replies; no pushes.
    std::uint64_t bytes = 0;    ///< Pushes and what is incomplete included.
};

/// On all its runs so far.
inline Received received_by(Connection& connection) {
    auto const usage = parts_of(connection).st_.mpx.get_usage();
    return {usage.responses_received,
            usage.response_bytes_received + usage.push_bytes_received + unread_bytes(connection)};
}

}  // namespace rollcall::redis
