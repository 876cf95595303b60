#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "rollcall/client.hpp"

namespace rollcall {

/// Lets one message of a kind through in `interval` and counts the others.
class RateLimit {
public:
    using Clock = std::chrono::steady_clock;

    explicit RateLimit(Clock::duration interval) : interval_(interval) {}

    /// None: not now. Otherwise how many of this kind were left out since the last one.
    std::optional<std::size_t> admit(std::string_view kind, Clock::time_point now);

private:
    struct Kind {
        Clock::time_point last;
        std::size_t left_out = 0;
    };

    Clock::duration interval_;
    std::map<std::string, Kind, std::less<>> kinds_;
};

/// Hands messages to the user's callback: never throws, and repeats one kind of message at most
/// once a minute, saying how many were left out.
///
/// Thread safety: all members from any thread. The callback may be called by several at once.
class Log {
public:
    explicit Log(LogCallback callback = {});

    /// `kind` is a short constant name of the situation, used for rate limiting; `text` may hold
    /// untrusted bytes, which are escaped.
    void write(LogLevel level, std::string_view kind, std::string_view text) const noexcept;

private:
    struct State;
    std::shared_ptr<State> state_;  // Null without a callback.
};

}  // namespace rollcall
