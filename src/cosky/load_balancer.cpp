#include "rollcall/cosky/load_balancer.hpp"

#include <stdexcept>
#include <utility>

#include "balance/random.hpp"
#include "cosky/even_draw.hpp"
#include "registry/live/snapshot_access.hpp"

namespace rollcall::cosky {
namespace {

using Discovery = std::shared_ptr<ConsistencyRedisServiceDiscovery>;

Discovery checked(Discovery discovery) {
    if (!discovery) throw std::invalid_argument{"a load balancer without a discovery"};
    return discovery;
}

Choice choose_evenly(Snapshot snapshot) noexcept {
    auto const* const table = live::SnapshotAccess::table(snapshot);
    auto const* const drawn =
        table == nullptr ? nullptr : draw_evenly(*table, balance::thread_random());
    return {std::move(snapshot), drawn};
}

}  // namespace

RandomLoadBalancer::RandomLoadBalancer(Discovery discovery)
    : discovery_(checked(std::move(discovery))) {}

Choice RandomLoadBalancer::choose(std::string_view ns, std::string_view service) {
    return choose_evenly(discovery_->snapshot(ns, service));
}
Choice RandomLoadBalancer::choose(std::string_view ns, std::string_view service,
                                  std::error_code& error) {
    return choose_evenly(discovery_->snapshot(ns, service, error));
}

// The tables that it takes come with the snapshot.
Choice WeightRandomLoadBalancer::choose(std::string_view ns, std::string_view service) {
    return live::choose(discovery_->snapshot(ns, service));
}
Choice WeightRandomLoadBalancer::choose(std::string_view ns, std::string_view service,
                                        std::error_code& error) {
    return live::choose(discovery_->snapshot(ns, service, error));
}

WeightRandomLoadBalancer::WeightRandomLoadBalancer(Discovery discovery)
    : discovery_(checked(std::move(discovery))) {}

ArrayWeightRandomLoadBalancer::ArrayWeightRandomLoadBalancer(Discovery discovery)
    : WeightRandomLoadBalancer(std::move(discovery)) {}

BinaryWeightRandomLoadBalancer::BinaryWeightRandomLoadBalancer(Discovery discovery)
    : WeightRandomLoadBalancer(std::move(discovery)) {}

TreeWeightRandomLoadBalancer::TreeWeightRandomLoadBalancer(Discovery discovery)
    : WeightRandomLoadBalancer(std::move(discovery)) {}

}  // namespace rollcall::cosky
