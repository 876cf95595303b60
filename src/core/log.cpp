#include "core/log.hpp"

#include <mutex>
#include <utility>

#include "core/text.hpp"

namespace rollcall {
namespace {

constexpr std::chrono::minutes repeat_after{1};
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

struct Log::State {
    LogCallback callback;
    std::mutex mutex;
    RateLimit limit{repeat_after};  // Guarded by the mutex.
};

Log::Log(LogCallback callback) {
    if (!callback) return;
    state_ = std::make_shared<State>();
    state_->callback = std::move(callback);
}

void Log::write(LogLevel level, std::string_view kind, std::string_view text) const noexcept {
    if (!state_) return;
    try {
        std::optional<std::size_t> left_out;
        {
            std::lock_guard const lock{state_->mutex};
            left_out = state_->limit.admit(kind, RateLimit::Clock::now());
        }
        if (!left_out) return;
        auto message = escaped(text);
        if (*left_out > 0) message += " (" + std::to_string(*left_out) + " like it left out)";
        state_->callback(level, message);
    } catch (...) {
        return;  // A message that cannot be written has nowhere to go.
    }
}

}  // namespace rollcall
