#include "cli/context.hpp"
#include "redis/client_core.hpp"
#include "streaming/streaming_port.hpp"

namespace rollcall::cli {

namespace {

/// The process ends right after its connection: a slow name server must not hold it up.
constexpr std::chrono::milliseconds patience_at_end{50};

}  // namespace

Backend make_backend(Settings const& settings, Logger& logger) {
    ClientOptions options;
    options.url = settings.url;
    options.request_timeout = settings.timeout;
    options.log = [&logger](LogLevel level, std::string_view text) { logger.write(level, text); };
    streaming::StreamingPortOptions layout;
    if (!settings.key_prefix.empty()) layout.prefix = settings.key_prefix;
    layout.lease = settings.lease;
    auto core = redis::ClientCore::create(std::move(options));
    core->set_patience_at_end(patience_at_end);
    auto port = streaming::make_streaming_port(core, layout);
    return Backend{std::move(core), std::move(port)};
}

}  // namespace rollcall::cli
