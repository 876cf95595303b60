#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace rollcall::redis {

/// The longest path that the address of a unix socket holds.
inline constexpr std::size_t longest_socket_path = 107;

/// Where the embedded server's socket lives: `$XDG_RUNTIME_DIR/rollcall`, or `/tmp/rollcall-<uid>`
/// where that variable is not set, not absolute, names no folder, or is too long for a socket.
std::filesystem::path runtime_directory();

/// The socket of the embedded server of this user.
std::filesystem::path embedded_socket();

/// Why `directory` cannot be trusted with a socket; none when it is a real directory of this user
/// that nobody else may enter. Anybody can make one in `/tmp` before us.
std::optional<std::string> why_unsafe(std::filesystem::path const& directory);

/// Makes `directory` with mode 0700, or tightens an existing one of this user.
/// Errors: `std::runtime_error` that names it when it cannot be made or trusted.
void prepare_private_directory(std::filesystem::path const& directory);

}  // namespace rollcall::redis
