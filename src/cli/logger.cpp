#include "cli/logger.hpp"

#include <cstdio>
#include <spdlog/logger.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <unistd.h>

#include "cli/print/output.hpp"
#include "cli/print/text.hpp"

namespace rollcall::cli {

namespace {

spdlog::level::level_enum to_spdlog(LogLevel level) {
    switch (level) {
        case LogLevel::debug:
            return spdlog::level::debug;
        case LogLevel::info:
            return spdlog::level::info;
        case LogLevel::warning:
            return spdlog::level::warn;
        case LogLevel::error:
            return spdlog::level::err;
    }
    return spdlog::level::err;
}

std::shared_ptr<spdlog::sinks::sink> make_sink() {
    auto const mode =
        Output{STDERR_FILENO}.colour() ? spdlog::color_mode::always : spdlog::color_mode::never;
    return std::make_shared<spdlog::sinks::stderr_color_sink_mt>(mode);
}

}  // namespace

struct Logger::Impl {
    spdlog::logger log{"rollcall", make_sink()};
};

Logger::Logger(Style style) : impl_(std::make_unique<Impl>()) {
    // A closed standard error is no reason to stop, and there is nowhere to say so.
    impl_->log.set_error_handler([](std::string const&) {});
    set_style(style);
}

Logger::~Logger() = default;

void Logger::set_style(Style style) {
    bool const running = style == Style::running;
    impl_->log.set_level(running ? spdlog::level::info : spdlog::level::warn);
    impl_->log.set_pattern(running ? "%Y-%m-%dT%H:%M:%S.%e%z %^%l%$ %v" : "rollcall: %^%v%$");
}

bool Logger::running() const noexcept { return impl_->log.level() == spdlog::level::info; }

void Logger::write(LogLevel level, std::string_view text) noexcept {
    try {
        impl_->log.log(to_spdlog(level), "{}", terminal_safe(text));
    } catch (...) {
        // No memory for a message: the work goes on without it.
        std::fputs("rollcall: a message was lost\n", stderr);
    }
}

}  // namespace rollcall::cli
