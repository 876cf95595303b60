#include "chaos/connection_watch.hpp"

#include <algorithm>

namespace rollcall::chaos {
namespace {

// As a connection counts it.
constexpr std::chrono::milliseconds long_wait{50};
constexpr std::chrono::milliseconds second_patience{500};

}  // namespace

void ConnectionWatch::opened(pid_t user, Time at) {
    auto& known = users_[user];
    ++known.open;
    if (known.open < known.most) return;
    take(known, at);
    known.most = known.open;
    known.missing_since.reset();
}

void ConnectionWatch::closed(pid_t user, Time at) {
    auto& known = users_[user];
    if (known.open > 0) --known.open;
    if (!known.missing_since) known.missing_since = at;
}

void ConnectionWatch::ended(pid_t user) { users_.erase(user); }

void ConnectionWatch::noticed(Time silent_from, Time at, std::chrono::nanoseconds waited) {
    Seconds time = at - silent_from;
    ++noticed_;
    if (waited > long_wait) {
        ++held_up_;
        time -= second_patience + waited;
    }
    noticed_max_ = std::max(noticed_max_, time);
}

void ConnectionWatch::look(Time at) {
    for (auto const& [pid, user] : users_) take(user, at);
}

std::vector<pid_t> ConnectionWatch::missing() const {
    std::vector<pid_t> result;
    for (auto const& [pid, user] : users_) {
        if (user.missing_since) result.push_back(pid);
    }
    return result;
}

void ConnectionWatch::take(User const& user, Time at) {
    if (!user.missing_since) return;
    // While nobody could connect, nobody was late.
    back_max_ = std::max(back_max_, Seconds{at - std::max(*user.missing_since, way_from_)});
}

}  // namespace rollcall::chaos
