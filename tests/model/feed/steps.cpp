#include <string_view>

#include "model/feed/world.hpp"

namespace rollcall::test::feed {

using Link = Push::Link;

std::string to_string(Step step) {
    static constexpr std::string_view names[] = {"deliver the next message",
                                                 "ask",
                                                 "look up",
                                                 "finish the read",
                                                 "the answer arrives",
                                                 "notice",
                                                 "connect",
                                                 "subscribe",
                                                 "register",
                                                 "describe",
                                                 "deregister",
                                                 "die",
                                                 "renew",
                                                 "remove",
                                                 "sweep",
                                                 "cut",
                                                 "overflow",
                                                 "flush",
                                                 "restart",
                                                 "evict the hash of",
                                                 "evict the entry of",
                                                 "overwrite the key of",
                                                 "fail the read",
                                                 "reconnect the read",
                                                 "wait"};
    std::string text{names[static_cast<std::size_t>(step.act)]};
    bool const of_instance = (step.act >= Act::enter && step.act <= Act::sweep) ||
                             (step.act >= Act::evict_hash && step.act <= Act::overwrite);
    if (of_instance) (text += ' ') += ids.at(step.who);
    return text;
}

void World::list_steps(std::vector<Step>& steps) const {
    if (!push_.queue.empty()) steps.push_back({Act::deliver, 0});
    if (may_ask()) steps.push_back({Act::ask, 0});
    if (reading_.phase == Phase::listed) steps.push_back({Act::look_up, 0});
    if (reading_.phase == Phase::looked_up) steps.push_back({Act::finish, 0});
    if (reading_.phase == Phase::finished && reading_.ping != Ping::unanswered) {
        steps.push_back({Act::arrive, 0});
    }
    if (push_.link == Link::broken) steps.push_back({Act::notice, 0});
    if (push_.link == Link::broken || push_.link == Link::down) steps.push_back({Act::connect, 0});
    if (push_.link == Link::connected) steps.push_back({Act::subscribe, 0});
    list_owners(steps);
    list_faults(steps);
    // A driver asks at once, and owners renew in time.
    if (!may_ask() && !renewal_due() && next_moment()) steps.push_back({Act::wait, 0});
}

void World::list_owners(std::vector<Step>& steps) const {
    for (std::size_t i = 0; i < scene_->instances; ++i) {
        auto const who = static_cast<std::uint8_t>(i);
        auto const& record = server_[i];
        bool const alive = record.owner == Owner::alive;
        if (alive && record.renew_at <= now_) steps.push_back({Act::renew, who});
        if (server_.may_sweep(i, now_)) steps.push_back({Act::sweep, who});
        if (left_.owners > 0) {
            if (!alive && !record.odd) steps.push_back({Act::enter, who});
            if (alive && !record.odd) steps.push_back({Act::describe, who});
            if (alive) steps.push_back({Act::leave, who});
            if (alive && !record.persistent) steps.push_back({Act::die, who});
        }
        if (left_.operators > 0 && alive && record.listed) steps.push_back({Act::remove, who});
    }
}

void World::list_faults(std::vector<Step>& steps) const {
    if (left_.cuts > 0 && push_.link >= Link::connected) steps.push_back({Act::cut, 0});
    if (left_.overflows > 0 && !push_.queue.empty()) steps.push_back({Act::overflow, 0});
    if (left_.losses > 0) steps.push_back({Act::flush, 0});
    if (left_.restarts > 0) steps.push_back({Act::restart, 0});
    if (left_.failures > 0 && read_in_flight()) {
        steps.push_back({Act::fail, 0});
        if (reading_.generation) steps.push_back({Act::reconnect, 0});
    }
    for (std::size_t i = 0; left_.evictions > 0 && i < scene_->instances; ++i) {
        auto const who = static_cast<std::uint8_t>(i);
        if (server_[i].odd) steps.push_back({Act::evict_hash, who});
        if (!server_.serves(i, now_)) continue;
        steps.push_back({Act::evict_hash, who});
        if (scene_->layout == Layout::cosky) steps.push_back({Act::overwrite, who});
        // One that its readers do not know yet may stay unlisted for long: see docs/robustness.md.
        if (truth_.shows(i) >= server_[i].born) steps.push_back({Act::evict_entry, who});
    }
}

Step World::quiet_step() const {
    switch (push_.link) {
        case Link::broken:
            return {Act::notice, 0};
        case Link::down:
            return {Act::connect, 0};
        case Link::connected:
            return {Act::subscribe, 0};
        case Link::subscribed:
            break;
    }
    if (!push_.queue.empty()) return {Act::deliver, 0};
    switch (reading_.phase) {
        case Phase::none:
            break;
        case Phase::listed:
            return {Act::look_up, 0};
        case Phase::looked_up:
            return {Act::finish, 0};
        case Phase::finished:
            return {Act::arrive, 0};
    }
    if (may_ask()) return {Act::ask, 0};
    for (std::size_t i = 0; i < scene_->instances; ++i) {
        if (server_[i].renew_at <= now_) return {Act::renew, static_cast<std::uint8_t>(i)};
    }
    return {Act::wait, 0};
}

}  // namespace rollcall::test::feed
