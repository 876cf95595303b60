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

/// Lets every change of a state through, and a repetition once in `repeat`. Only a relapse, a bad
/// state within `settle` of the last bad one told, waits: it must be written again and again while
/// it lasts, so that the state that stays is told last, and one that flutters does not fill the
/// log.
class StateLimit {
public:
    using Clock = RateLimit::Clock;

    StateLimit(Clock::duration repeat, Clock::duration settle) : repeat_(repeat), settle_(settle) {}

    /// None: not now. Otherwise how many of this topic were left out since the last one.
    std::optional<std::size_t> admit(std::string_view topic, std::string_view state, bool good,
                                     Clock::time_point now);

private:
    struct Told {
        std::string state;
        bool good;
        Clock::time_point at;
        Clock::time_point bad_at;  // Of the last bad state.
        std::size_t left_out = 0;
    };

    Clock::duration repeat_;
    Clock::duration settle_;
    std::map<std::string, Told, std::less<>> topics_;
};

/// Hands messages to the user's callback: never throws, and repeats one kind of message at most
/// once a minute, saying how many were left out. Changes of a state are always told.
///
/// Thread safety: all members from any thread. The callback may be called by several at once.
class Log {
public:
    explicit Log(LogCallback callback = {});

    /// `kind` is a short constant name of the situation, used for rate limiting; `text` may hold
    /// untrusted bytes, which are escaped.
    void write(LogLevel level, std::string_view kind, std::string_view text) const noexcept;

    /// The same for a state of `topic`, which is bad from warnings on. A bad state must be written
    /// repeatedly while it lasts: see `StateLimit`.
    void write_state(LogLevel level, std::string_view topic, std::string_view state,
                     std::string_view text) const noexcept;

private:
    struct State;
    std::shared_ptr<State> state_;  // Null without a callback.
};

}  // namespace rollcall
