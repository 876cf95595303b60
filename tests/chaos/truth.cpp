#include "chaos/truth.hpp"

#include <algorithm>

namespace rollcall::chaos {

void Truth::entering(std::string const& service, std::string const& id) {
    services_[service][id] = {};
    for (auto& [reader, views] : views_) views.erase(service + '/' + id);
}

void Truth::acknowledged(std::string const& service, std::string const& id, Time at) {
    auto& life = services_[service][id];
    life.acknowledged = at;
    life.unpromised = false;
}

void Truth::leased(std::string const& service, std::string const& id, Time until) {
    services_[service][id].leased_until = until;
}

void Truth::unpromised(std::string const& service, std::string const& id) {
    services_[service][id].unpromised = true;
}

void Truth::lapsed(std::string const& service, std::string const& id) {
    services_[service][id].acknowledged.reset();
}

void Truth::leaving(std::string const& service, std::string const& id) {
    services_[service][id].leaving = true;
}

void Truth::released(std::string const& service, std::string const& id, Time at) {
    services_[service][id].released = at;
}

void Truth::abandoned(std::string const& service, std::string const& id, Time at) {
    auto& life = services_[service][id];
    if (!life.abandoned) life.abandoned = at;
}

void Truth::sample(std::size_t reader, std::string const& service, std::vector<Shown> const& shown,
                   Time now) {
    ++figures_.samples;
    std::map<std::string, bool> present;
    for (auto const& [id, suspect] : shown) {
        if (!present.emplace(id, suspect).second) ++figures_.duplicates;
    }
    for (auto const& [id, life] : services_[service]) {
        auto const where = service + '/' + id;
        auto& view = views_[reader][where];
        auto const found = present.find(id);
        if (found == present.end()) {
            judge_missing(where, life, view, now);
            continue;
        }
        if (!found->second) view.suspect_since.reset();
        if (found->second && !view.suspect_since) view.suspect_since = now;
        judge_present(where, life, view, now);
    }
}

void Truth::judge_missing(std::string const& where, Life const& life, View& view, Time now) {
    view.suspect_since.reset();
    if (life.released) view.missed_since_release = true;
    if (!life.healthy()) return;
    bool const lost = *life.acknowledged <= lost_at_;
    if (lost && !view.had) return;  // Nobody could know of it until it is registered again.
    Seconds const hidden = now - std::max(*life.acknowledged, clean_from_);
    if (life.unpromised) {
        if (hidden <= figures_.unpromised_max) return;
        figures_.unpromised_max = hidden;
        figures_.unpromised_example = where;
        return;
    }
    if (hidden <= figures_.hidden_max) return;
    figures_.hidden_max = hidden;
    figures_.hidden_example = where;
}

void Truth::judge_present(std::string const& where, Life const& life, View& view, Time now) {
    view.had = true;
    if (life.healthy()) return;
    if (life.released && view.missed_since_release) {
        ++figures_.resurrected;
        view.missed_since_release = false;
    }
    auto const ended = life.released ? life.released : life.abandoned;
    if (!ended) return;  // Its owner is about to deregister it.
    auto const lease = life.leased_until ? *life.leased_until : *ended + lease_;
    auto bound = std::max(lease, clean_from_);
    if (view.suspect_since) bound = std::max(bound, *view.suspect_since + lease_);
    auto const lingering = now - bound;
    if (lingering <= figures_.lingering_max) return;
    figures_.lingering_max = lingering;
    figures_.lingering_example = where;
}

Truth::Life const* Truth::find(std::string const& service, std::string const& id) const {
    auto const lives = services_.find(service);
    if (lives == services_.end()) return nullptr;
    auto const life = lives->second.find(id);
    return life == lives->second.end() ? nullptr : &life->second;
}

bool Truth::is_healthy(std::string const& service, std::string const& id) const {
    auto const* const life = find(service, id);
    return life && life->healthy();
}

bool Truth::is_released(std::string const& service, std::string const& id) const {
    auto const* const life = find(service, id);
    return life && life->released;
}

std::size_t Truth::healthy() const {
    std::size_t count = 0;
    for (auto const& [service, lives] : services_) {
        count += static_cast<std::size_t>(
            std::ranges::count_if(lives, [](auto const& one) { return one.second.healthy(); }));
    }
    return count;
}

}  // namespace rollcall::chaos
