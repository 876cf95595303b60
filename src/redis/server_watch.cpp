#include "redis/server_watch.hpp"

#include <algorithm>

#include "redis/link.hpp"

namespace rollcall::redis {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds shortest_pause{1'000};
/// A fraction of the shortest lease that anybody uses: owners must find the new master in time.
constexpr milliseconds longest_pause{5'000};

bool are_apart(Link const& one, Link const& other) {
    return one.connected() && other.connected() && !one.server().empty() &&
           !other.server().empty() && one.server() != other.server();
}

}  // namespace

bool ServerWatch::together() {
    for (std::size_t i = 0; i < links_.size(); ++i) {
        for (std::size_t j = i + 1; j < links_.size(); ++j) {
            auto& one = *links_[i];
            auto& other = *links_[j];
            if (!are_apart(one, other)) continue;
            auto& older = one.connected_at() < other.connected_at() ? one : other;
            if (may_part(std::chrono::steady_clock::now())) {
                older.abandon_soon("the address leads to another server by now");
            }
            return false;
        }
    }
    return true;
}

void ServerWatch::refused_to_write() {
    if (!may_part(std::chrono::steady_clock::now())) return;
    for (auto* const link : links_) link->abandon_soon("the server is a replica");
}

bool ServerWatch::may_part(Deadline now) {
    if (parted_at_ && now < *parted_at_ + pause_) return false;
    bool const again = parted_at_ && now < *parted_at_ + pause_ + longest_pause;
    pause_ = again ? std::min(2 * pause_, longest_pause) : shortest_pause;
    parted_at_ = now;
    return true;
}

}  // namespace rollcall::redis
