#include <stdexcept>
#include <utility>

#include "cli/context.hpp"
#include "cli/exit_code.hpp"
#include "cosky/cosky_port.hpp"
#include "redis/client_core.hpp"
#include "redis/url.hpp"
#include "streaming/streaming_port.hpp"

namespace rollcall::cli {

namespace {

/// The process ends right after its connection: a slow name server must not hold it up.
constexpr std::chrono::milliseconds patience_at_end{50};

/// The message of a room that knows a value by a name of its own, with the name by which the user
/// gave it.
std::string with_source(std::string_view message, Settings const& settings) {
    for (auto const& [name, source] : {std::pair{"url", settings.url_source},
                                       std::pair{"key prefix", settings.key_prefix_source},
                                       std::pair{"namespace", settings.key_prefix_source}}) {
        if (source.empty() || !message.starts_with(name)) continue;
        return source + std::string{message.substr(std::string_view{name}.size())};
    }
    return std::string{message};
}

std::unique_ptr<LayoutPort> make_port(Client const& client, Settings const& settings) {
    if (settings.layout == "cosky") {
        cosky::CoskyPortOptions layout;
        layout.ns = settings.name_space();
        layout.lease = settings.lease;
        // Where nobody knows when the next one comes, it may be as late as it can: readers hear of
        // each renewal that tells them more than they know.
        layout.heartbeat =
            settings.heartbeat.value_or(settings.lease - std::chrono::milliseconds{1});
        return cosky::make_cosky_port(client.core(), layout);
    }
    streaming::StreamingPortOptions layout;
    layout.prefix = settings.name_space();
    layout.lease = settings.lease;
    return streaming::make_streaming_port(client.core(), layout);
}

/// A command that runs once says at its end why it had no connection.
bool is_told_later(Logger const& logger, std::string_view text) {
    return !logger.running() && text.starts_with("cannot connect to ");
}

}  // namespace

Client make_client(Settings const& settings, Logger& logger) {
    ClientOptions options;
    options.url = settings.url;
    options.request_timeout = settings.timeout;
    options.log = [&logger](LogLevel level, std::string_view text) {
        if (!is_told_later(logger, text)) logger.write(level, text);
    };
    if (settings.url.empty()) {
        if (auto const why = redis::why_embedded_ignored()) logger.warning(*why);
    }
    try {
        Client client{std::move(options)};
        client.core()->set_patience_at_end(patience_at_end);
        return client;
    } catch (std::invalid_argument const& error) {
        throw UsageError{with_source(error.what(), settings)};
    }
}

Layout make_layout(Settings const& settings) {
    try {
        return settings.layout == "cosky" ? cosky_layout(settings.name_space(), settings.lease)
                                          : streaming_layout(settings.name_space(), settings.lease);
    } catch (std::invalid_argument const& error) {
        throw UsageError{with_source(error.what(), settings)};
    }
}

Backend make_backend(Client const& client, Settings const& settings) {
    try {
        return Backend{client.core(), make_port(client, settings)};
    } catch (std::invalid_argument const& error) {
        throw UsageError{with_source(error.what(), settings)};
    }
}

}  // namespace rollcall::cli
