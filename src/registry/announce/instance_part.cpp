#include "registry/announce/instance_part.hpp"

namespace rollcall::announce {
namespace {

bool always(Capabilities const&) { return true; }

template <auto Flag>
bool has(Capabilities const& capabilities) {
    return capabilities.*Flag;
}

template <auto Member>
bool same(ServiceInstance const& left, ServiceInstance const& right) {
    return left.*Member == right.*Member;
}

template <auto Member>
void copy(ServiceInstance const& from, ServiceInstance& to) {
    to.*Member = from.*Member;
}

template <auto Set, auto Member>
Task<Result<Written>> write(LayoutPort& port, InstanceId const& id, ServiceInstance const& wanted,
                            Deadline deadline) {
    return (port.*Set)(id, wanted.*Member, deadline);
}

template <auto Set, auto Member>
constexpr InstancePart part(std::string_view verb, bool (*is_stored)(Capabilities const&)) {
    return {verb, is_stored, same<Member>, copy<Member>, write<Set, Member>};
}

}  // namespace

constexpr std::array<InstancePart, instance_part_count> instance_parts = {
    part<&LayoutPort::set_metadata, &ServiceInstance::metadata>("change the metadata of", always),
    part<&LayoutPort::set_weight, &ServiceInstance::weight>("change the weight of", always),
    part<&LayoutPort::set_enabled, &ServiceInstance::enabled>("enable or disable",
                                                              has<&Capabilities::enabled_flag>),
    part<&LayoutPort::set_healthy, &ServiceInstance::healthy>("mark the health of",
                                                              has<&Capabilities::health_flag>),
};

}  // namespace rollcall::announce
