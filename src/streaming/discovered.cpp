#include "streaming/discovered.hpp"

#include <algorithm>
#include <iterator>

namespace rollcall::streaming {

void Discovered::replace(std::string const& service, std::vector<ServiceInstance> const& all) {
    auto& found = services_[service];
    size_ += all.size() - found.ids.size();
    found.ids.clear();
    found.ids.reserve(all.size());
    for (auto const& one : all) found.ids.emplace_back(one.instance_id, one.healthy);
    found.sorted = false;
    found.last = ++lists_;
    if (all.empty()) services_.erase(service);
    shrink();
}

void Discovered::merge(std::string const& service, std::vector<ServiceInstance> const& some) {
    if (some.empty()) return;
    auto& found = services_[service];
    std::vector<std::pair<std::string, bool>> more;
    for (auto const& one : some) {
        if (auto* const known = find(found, one.instance_id)) {
            known->second = one.healthy;
        } else {
            more.emplace_back(one.instance_id, one.healthy);
        }
    }
    size_ += more.size();
    std::ranges::move(more, std::back_inserter(found.ids));
    found.sorted = false;
    found.last = ++lists_;
    shrink();
}

/// The service that was listed last stays whole.
void Discovered::shrink() {
    while (size_ > most_ && services_.size() > 1) {
        auto const oldest = std::ranges::min_element(
            services_, {}, [](Services::value_type const& entry) { return entry.second.last; });
        size_ -= oldest->second.ids.size();
        services_.erase(oldest);
    }
}

std::size_t Discovered::count(std::set<std::string> const& but) const {
    auto result = size_;
    for (auto const& service : but) {
        auto const found = services_.find(service);
        if (found != services_.end()) result -= found->second.ids.size();
    }
    return result;
}

std::pair<std::string, bool>* Discovered::find(Found const& found, std::string_view id) {
    auto& ids = found.ids;
    auto const id_of = [](auto const& entry) -> std::string_view { return entry.first; };
    if (!found.sorted) std::ranges::sort(ids, {}, id_of);
    found.sorted = true;
    auto const at = std::ranges::lower_bound(ids, id, {}, id_of);
    return at != ids.end() && at->first == id ? &*at : nullptr;
}

std::optional<bool> Discovered::healthy(std::string_view service, std::string_view id) const {
    auto const found = services_.find(service);
    if (found == services_.end()) return std::nullopt;
    auto const* const known = find(found->second, id);
    return known ? std::optional{known->second} : std::nullopt;
}

std::vector<std::string> Discovered::services() const {
    std::vector<std::string> names;
    names.reserve(services_.size());
    for (auto const& [name, found] : services_) names.push_back(name);
    return names;
}

}  // namespace rollcall::streaming
