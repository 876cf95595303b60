#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace rollcall::redis {

/// Where a Redis is and how to log in.
struct Url {
    std::string host = "127.0.0.1";  ///< IPv6 without brackets; unused with a socket.
    int port = 6379;
    std::string unix_socket = {};  ///< Path of a socket; empty for TCP.
    std::string user = {};         ///< Empty: the default user.
    std::string password = {};     ///< Empty: none. Never printed.
    int database = 0;

    /// Errors: `std::invalid_argument` that names the part and the rule and shows nothing of what
    /// stands before an `@`.
    static Url parse(std::string_view text);

    /// The address without credentials, as a URL.
    std::string to_string() const;

    friend bool operator==(Url const&, Url const&) = default;
};

/// The URL that a client without one uses: `$ROLLCALL_URL`, then the embedded server of this user
/// if its socket is there and belongs to this user, then `redis://127.0.0.1:6379`.
Url default_url();

/// Why `default_url` passes over an embedded server of this user that is there; none when there is
/// none, or it is used.
std::optional<std::string> why_embedded_ignored();

}  // namespace rollcall::redis
