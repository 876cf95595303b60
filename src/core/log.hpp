#pragma once

#include <memory>
#include <string_view>

#include "rollcall/client.hpp"

namespace rollcall {

/// Hands messages to the user's callback: never throws, and repeats one kind of message at most
/// once a minute, saying how many were left out.
///
/// Thread safety: all members from any thread.
class Log {
public:
    explicit Log(LogCallback callback = {});
    ~Log();

    /// `kind` is a short constant name of the situation, used for rate limiting; `text` may hold
    /// untrusted bytes, which are escaped.
    void write(LogLevel level, std::string_view kind, std::string_view text) const noexcept;

private:
    struct State;
    std::shared_ptr<State> state_;
};

}  // namespace rollcall
