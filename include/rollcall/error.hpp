#pragma once

#include <string>
#include <system_error>
#include <type_traits>
#include <utility>

#pragma GCC visibility push(default)

namespace rollcall {

/// Why an operation failed. One row each in `docs/errors.md`: meaning, transient or not, HTTP
/// status, exit code.
enum class errc {
    timeout = 1,       ///< No answer within the deadline. A write may have been applied.
    not_connected,     ///< Redis cannot be reached.
    unavailable,       ///< Redis answers but cannot serve now: loading, read-only, cluster down.
    overloaded,        ///< Too many requests in flight, or Redis refuses for lack of memory.
    cancelled,         ///< The caller gave up. A write may have been applied.
    access_denied,     ///< Wrong credentials, or a command, key or channel that the user may not
                       ///< touch.
    unexpected_reply,  ///< Redis refused, or answered what the layout does not allow; `detail`
                       ///< names the key.
    not_supported,     ///< The layout cannot store or do this.
    crosses_slots,  ///< A name without hash tag on Redis Cluster; `detail` shows the tagged form.
    closed,  ///< The client, registry or announcement was closed, or is used in a forked child.
    no_instance,   ///< Nothing to call: the service has no instance that matches and is healthy.
    circuit_open,  ///< The breakers of all instances keep calls off them.
};

std::error_category const& error_category() noexcept;
std::error_code make_error_code(errc) noexcept;

/// Whether the same call may succeed later without anybody changing anything.
bool is_transient(std::error_code) noexcept;

/// Thrown by the plain form of every operation; the form with a trailing `std::error_code&` reports
/// the code instead.
///
/// Bad arguments throw `std::invalid_argument` in both forms, before anything is sent.
class Error : public std::system_error {
public:
    Error(std::error_code code, std::string detail)
        : std::system_error(code), detail_(std::move(detail)) {}

    /// What was attempted and what Redis said. Untrusted text, not part of `what()`: do not show it
    /// to remote users.
    std::string const& detail() const noexcept { return detail_; }

private:
    std::string detail_;
};

}  // namespace rollcall

template <>
struct std::is_error_code_enum<rollcall::errc> : std::true_type {};

#pragma GCC visibility pop
