#pragma once

#include <memory>
#include <string_view>

#include "rollcall/client.hpp"

namespace rollcall::cli {

/// What the program says on standard error, one terminal-safe line each.
///
/// Thread safety: all members from any thread.
class Logger {
public:
    enum class Style {
        one_shot,  ///< `rollcall: text`; warnings and errors only.
        running,   ///< With time and level; also what is merely informative.
    };

    explicit Logger(Style style = Style::one_shot);
    ~Logger();

    void set_style(Style style);
    bool running() const noexcept;

    void write(LogLevel level, std::string_view text) noexcept;
    void info(std::string_view text) noexcept { write(LogLevel::info, text); }
    void warning(std::string_view text) noexcept { write(LogLevel::warning, text); }
    void error(std::string_view text) noexcept { write(LogLevel::error, text); }

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace rollcall::cli
