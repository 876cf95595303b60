#include "rollcall/streaming/consistent_hash_load_balancer.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "balance/hash_ring.hpp"
#include "balance/id_list.hpp"
#include "balance/ring_hash.hpp"
#include "core/text.hpp"
#include "streaming/candidates.hpp"
#include "streaming/list_memory.hpp"

namespace rollcall::streaming {
namespace {

/// What the design's `service:id` has in front of the colon: of the instance, unless that was left
/// out.
std::string_view service_of(ServiceInstance const& instance, std::string_view service) noexcept {
    return instance.service_name.empty() ? service : std::string_view{instance.service_name};
}

bool is_unique_id(std::string_view known, std::string_view service, std::string_view id) noexcept {
    return known.size() == service.size() + 1 + id.size() && known[service.size()] == ':' &&
           known.ends_with(id) && known.starts_with(service);
}

class Ring {
public:
    explicit Ring(balance::HashRing ring) : ring_(std::move(ring)) {}

    bool is_of(std::string_view service, Candidates candidates) const noexcept {
        auto const& ids = ring_.ids();
        if (candidates.size() != ids.size()) return false;
        for (std::size_t i = 0; i < candidates.size(); ++i) {
            auto const& candidate = candidates[i];
            if (!is_unique_id(ids[i], service_of(candidate, service), candidate.instance_id)) {
                return false;
            }
        }
        return true;
    }

    std::size_t find(std::uint64_t hash, Wanted const& wanted) const noexcept {
        return wanted.all() ? ring_.find(hash) : ring_.find(hash, wanted);
    }

    balance::HashRing const& ring() const noexcept { return ring_; }
    std::size_t bytes() const noexcept { return ring_.bytes(); }

private:
    balance::HashRing const ring_;
};

using RingPtr = std::shared_ptr<Ring>;

balance::IdList unique_ids(std::string_view service, Candidates candidates) {
    balance::IdList ids;
    std::string id;
    for (auto const& candidate : candidates) {
        id.assign(service_of(candidate, service)).append(":").append(candidate.instance_id);
        ids.add(id);
    }
    return ids;
}

/// From the one among `others` that has most in common with it, as far as their sizes tell.
RingPtr ring_of(balance::IdList ids, std::uint32_t places, std::vector<RingPtr> const& others) {
    auto const difference = [&](RingPtr const& other) {
        auto const size = other->ring().ids().size();
        return std::max(size, ids.size()) - std::min(size, ids.size());
    };
    auto const nearest = std::ranges::min_element(others, {}, difference);
    if (nearest == others.end()) {
        return std::make_shared<Ring>(balance::HashRing{std::move(ids), places});
    }
    return std::make_shared<Ring>((*nearest)->ring().changed(std::move(ids)));
}

std::uint32_t checked(int virtual_nodes) {
    if (virtual_nodes > ConsistentHashLoadBalancer::max_virtual_nodes) {
        refuse("virtual_nodes", virtual_nodes, "must not be more than 65,536");
    }
    return static_cast<std::uint32_t>(std::max(virtual_nodes, 1));
}

}  // namespace

struct ConsistentHashLoadBalancer::Impl {
    std::uint32_t const places;
    ListMemory<Ring> memory{MemoryLimits{.lists = 4}};
};

ConsistentHashLoadBalancer::ConsistentHashLoadBalancer(int virtual_nodes)
    : impl_(new Impl{.places = checked(virtual_nodes)}) {}

ConsistentHashLoadBalancer::~ConsistentHashLoadBalancer() = default;

ServiceInstance const* ConsistentHashLoadBalancer::choose(std::string_view service_name,
                                                          Candidates candidates,
                                                          ChooseOptions const& options) {
    Wanted const wanted{candidates, options};
    auto const forced = forced_choice(candidates, wanted);
    if (forced.decided) return forced.chosen;
    if (!options.key || *options.key == "null") return &candidates[forced.first];
    auto const hash = balance::ring_hash(*options.key);
    auto const chosen = impl_->memory.with(
        service_name, [&](Ring const& known) { return known.is_of(service_name, candidates); },
        [&](std::vector<RingPtr> const& others, std::uint64_t) {
            return ring_of(unique_ids(service_name, candidates), impl_->places, others);
        },
        [&](Ring const& ring) { return ring.find(hash, wanted); });
    return &candidates[chosen];
}

}  // namespace rollcall::streaming
