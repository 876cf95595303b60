#pragma once

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace rollcall::cli {

/// How `--check` looks at the command.
struct CheckSpec {
    enum class Kind { none, tcp, http } kind = Kind::none;
    std::string path = {};  ///< Of http.

    /// `tcp` or `http:/path`. Errors: `UsageError`.
    static CheckSpec parse(std::string_view name, std::string_view text);
};

/// Asks a port of this machine whether it serves.
///
/// Thread safety: the loop's thread.
class HealthCheck {
public:
    /// Given why it failed; empty: it passed.
    using Handler = std::function<void(std::string)>;

    /// Tries `hosts` in turn until one lets connect.
    HealthCheck(boost::asio::io_context& loop, std::vector<std::string> hosts, int port);

    /// Whether the port accepts a connection within `limit`.
    void connect(std::chrono::milliseconds limit, Handler handler);
    /// Whether it does what `spec` asks within `limit`: for http a status from 200 to 399.
    void check(CheckSpec const& spec, std::chrono::milliseconds limit, Handler handler);

private:
    boost::asio::io_context& loop_;
    std::vector<std::string> hosts_;
    std::string port_;
};

}  // namespace rollcall::cli
