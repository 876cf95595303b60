#include "registry/announce/owner_watch.hpp"

namespace rollcall::announce {
namespace {

/// Clocks of two machines drift, and times are read in whole milliseconds.
constexpr std::chrono::milliseconds tolerance{10};

}  // namespace

void OwnerWatch::note(Key key, Time lease_until, std::chrono::milliseconds took) {
    noted_.insert_or_assign(key, lease_until + took + tolerance);
}

bool OwnerWatch::compare(Key key, Time lease_until) {
    auto const node = noted_.extract(key);
    if (node.empty()) return false;
    if (lease_until <= node.mapped()) {
        suspicions_.erase(key);
        return false;
    }
    auto const [at, first] = suspicions_.try_emplace(key);
    if (first || at->second.told) return false;
    at->second.told = true;
    return true;
}

void OwnerWatch::remove(Key key) {
    noted_.erase(key);
    suspicions_.erase(key);
}

std::vector<OwnerWatch::Key> OwnerWatch::noted() const {
    std::vector<Key> keys;
    for (auto const& [key, until] : noted_) keys.push_back(key);
    return keys;
}

std::vector<OwnerWatch::Key> OwnerWatch::suspected() const {
    std::vector<Key> keys;
    for (auto const& [key, suspicion] : suspicions_) {
        if (!suspicion.told) keys.push_back(key);
    }
    return keys;
}

}  // namespace rollcall::announce
