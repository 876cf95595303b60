#include "support/log_book.hpp"

#include <algorithm>

namespace rollcall::test {

LogCallback LogBook::callback() {
    return [state = state_](LogLevel, std::string_view text) {
        std::lock_guard const lock{state->mutex};
        state->lines.emplace_back(text);
    };
}

std::vector<std::string> LogBook::lines() const {
    std::lock_guard const lock{state_->mutex};
    return state_->lines;
}

std::size_t LogBook::count(std::string_view part) const {
    auto const all = lines();
    return static_cast<std::size_t>(std::ranges::count_if(
        all, [&](std::string const& line) { return line.find(part) != std::string::npos; }));
}

}  // namespace rollcall::test
