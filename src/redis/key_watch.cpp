#include "redis/key_watch.hpp"

#include <algorithm>
#include <utility>

namespace rollcall::redis {

void KeyWatch::add(std::string const& key, PushHandler& handler) {
    auto& handlers = keys_[key].handlers;
    if (std::find(handlers.begin(), handlers.end(), &handler) == handlers.end()) {
        handlers.push_back(&handler);
    }
}

void KeyWatch::remove(PushHandler const& handler) {
    for (auto at = keys_.begin(); at != keys_.end();) {
        std::erase(at->second.handlers, &handler);
        at = at->second.handlers.empty() ? keys_.erase(at) : std::next(at);
    }
}

std::vector<std::string> KeyWatch::due(std::size_t limit) {
    std::vector<std::string> names;
    for (auto& [name, key] : keys_) {
        if (key.state != State::due || names.size() == limit) continue;
        key.state = State::asked;
        names.push_back(name);
    }
    return names;
}

bool KeyWatch::any_due() const noexcept {
    return std::any_of(keys_.begin(), keys_.end(),
                       [](auto const& each) { return each.second.state == State::due; });
}

KeyWatch::News KeyWatch::tracked(std::string const& key) {
    News news;
    auto const found = keys_.find(key);
    if (found == keys_.end()) return news;
    auto& entry = found->second;
    if (entry.state == State::asked_again) {
        entry.state = State::due;
        return news;
    }
    if (entry.state == State::asked) entry.state = State::tracked;
    news.first = !std::exchange(entry.known, true);
    news.handlers = entry.handlers;
    if (std::exchange(entry.changed, false)) news.to_tell_change = entry.handlers;
    return news;
}

void KeyWatch::refused(std::string const& key) {
    if (auto const found = keys_.find(key); found != keys_.end()) {
        found->second.state = State::refused;
    }
}

void KeyWatch::retry() {
    for (auto& [name, key] : keys_) {
        if (key.state != State::refused) continue;
        key.state = State::due;
        key.changed = true;
    }
}

void KeyWatch::invalidated(std::string_view key) {
    auto const found = keys_.find(key);
    if (found == keys_.end()) return;
    auto& state = found->second.state;
    found->second.changed = true;
    if (state == State::tracked) state = State::due;
    // Whether that was before or after the reading whose answer is still to come, nobody knows.
    if (state == State::asked) state = State::asked_again;
}

void KeyWatch::all_invalidated() {
    for (auto const& [name, key] : keys_) invalidated(name);
}

void KeyWatch::reset() {
    for (auto& [name, key] : keys_) {
        key.state = State::due;
        key.changed = false;
        key.known = false;
    }
}

}  // namespace rollcall::redis
