#include "core/log.hpp"

#include <mutex>
#include <utility>

#include "core/text.hpp"

namespace rollcall {
namespace {

constexpr std::chrono::minutes repeat_after{1};
constexpr std::chrono::seconds settle_after{5};
constexpr std::size_t longest_text = 2'000;

/// `text` on one line, its controls and ill-formed bytes made visible.
std::string escaped(std::string_view text) {
    constexpr std::string_view hex = "0123456789abcdef";
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
        if (out.size() > longest_text) return out + "…";
        auto const begin = at;
        auto const code_point = next_code_point(text, at);
        auto const part = text.substr(begin, at - begin);
        if (!is_control(code_point) && is_utf8(part)) {
            out += part;
            continue;
        }
        for (char const c : part) {
            auto const byte = static_cast<unsigned char>(c);
            out += {'\\', 'x', hex[byte >> 4], hex[byte & 0xF]};
        }
    }
    return out;
}

}  // namespace

std::optional<std::size_t> RateLimit::admit(std::string_view kind, Clock::time_point now) {
    auto const found = kinds_.find(kind);
    if (found == kinds_.end()) {
        kinds_.emplace(kind, Kind{now});
        return 0;
    }
    auto& known = found->second;
    if (now - known.last < interval_) {
        ++known.left_out;
        return std::nullopt;
    }
    known.last = now;
    return std::exchange(known.left_out, 0);
}

std::optional<std::size_t> StateLimit::admit(std::string_view topic, std::string_view state,
                                             bool good, Clock::time_point now) {
    auto const found = topics_.find(topic);
    if (found == topics_.end()) {
        auto const bad_at = good ? now - settle_ : now;
        topics_.emplace(topic, Told{std::string{state}, good, now, bad_at});
        return 0;
    }
    auto& told = found->second;
    bool const repeated = told.state == state && now - told.at < repeat_;
    bool const relapse = told.good && !good && now - told.bad_at < settle_;
    if (repeated || relapse) {
        ++told.left_out;
        return std::nullopt;
    }
    auto const left_out = told.left_out;
    told = Told{std::string{state}, good, now, good ? told.bad_at : now};
    return left_out;
}

struct Log::State {
    template <class Admit>
    void write(LogLevel level, std::string_view text, Admit const& admit) noexcept;

    LogCallback callback;
    std::mutex mutex;  // Guards what is below.
    RateLimit kinds{repeat_after};
    StateLimit states{repeat_after, settle_after};
};

template <class Admit>
void Log::State::write(LogLevel level, std::string_view text, Admit const& admit) noexcept {
    try {
        std::optional<std::size_t> left_out;
        {
            std::lock_guard const lock{mutex};
            left_out = admit(RateLimit::Clock::now());
        }
        if (!left_out) return;
        auto message = escaped(text);
        if (*left_out > 0) message += " (" + std::to_string(*left_out) + " like it left out)";
        callback(level, message);
    } catch (...) {
        return;  // A message that cannot be written has nowhere to go.
    }
}

Log::Log(LogCallback callback) {
    if (!callback) return;
    state_ = std::make_shared<State>();
    state_->callback = std::move(callback);
}

void Log::write(LogLevel level, std::string_view kind, std::string_view text) const noexcept {
    if (!state_) return;
    state_->write(level, text,
                  [&](RateLimit::Clock::time_point now) { return state_->kinds.admit(kind, now); });
}

void Log::write_state(LogLevel level, std::string_view topic, std::string_view state,
                      std::string_view text) const noexcept {
    if (!state_) return;
    bool const good = level < LogLevel::warning;
    state_->write(level, text, [&](RateLimit::Clock::time_point now) {
        return state_->states.admit(topic, state, good, now);
    });
}

}  // namespace rollcall
