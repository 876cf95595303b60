#pragma once

#include <boost/json/value.hpp>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <system_error>

#include "cli/backend.hpp"
#include "cli/logger.hpp"
#include "cli/print/output.hpp"
#include "cli/print/table.hpp"
#include "cli/settings.hpp"

#include "rollcall/client.hpp"
#include "rollcall/registry.hpp"

namespace rollcall::cli {

/// What a command runs with.
class Context {
public:
    using BackendFactory = std::function<Backend(Client const&, Settings const&)>;

    Context(Settings settings, Output& output, Logger& logger, BackendFactory factory);

    Settings const& settings() const noexcept { return settings_; }
    Logger& logger() noexcept { return logger_; }
    Output& output() noexcept { return output_; }

    /// The registry; made, and its connection begun, when first asked for.
    /// Errors: `std::invalid_argument` for a malformed URL, lease or prefix.
    Backend& backend();
    /// The connection that the registry uses; begun when first asked for.
    Client const& client();
    /// The registry with what watches it, on that connection. Errors: as of `backend`.
    Registry registry();
    /// Ends the connection, if there is one.
    void close() {
        backend_.reset();
        client_.reset();
    }

    /// Errors: `Error` with `errc::not_supported`, and what cannot be done, in another layout.
    void require_layout(std::string_view layout, std::string_view what) const;

    /// Before `backend` is first asked for.
    void use_url(std::string url) { settings_.url = std::move(url); }

    /// How often the command renews instances. Before `backend` is first asked for.
    void use_heartbeat(std::chrono::milliseconds period) { settings_.heartbeat = period; }

    /// What there is to add to a failure: that nobody serves, where no URL was given. Else empty.
    std::string_view hint(std::error_code failure) const noexcept;

    bool wants_json() const noexcept { return settings_.output == Format::json; }
    bool wide() const noexcept { return settings_.output == Format::wide; }
    void print(Table const& table);
    void print(boost::json::value const& document);
    void print_line(std::string_view text);  ///< Made terminal-safe.

    /// Says how many entries reads left out, where the one that was told is not all.
    void tell_left_out();

    /// Instances in the asked form.
    void print_instances(std::span<Found const> instances);

private:
    Settings settings_;
    Output& output_;
    Logger& logger_;
    BackendFactory factory_;
    std::optional<Client> client_;
    std::optional<Backend> backend_;
};

/// A client to the Redis of the settings, which begins to connect.
/// Errors: `UsageError` with the source of a malformed URL.
Client make_client(Settings const& settings, Logger& logger);

/// The layout of the settings. Errors: `UsageError` with the source of a bad namespace.
Layout make_layout(Settings const& settings);

/// The layout of the settings on a client. Errors: `UsageError` with the source of a bad namespace.
Backend make_backend(Client const& client, Settings const& settings);

}  // namespace rollcall::cli
