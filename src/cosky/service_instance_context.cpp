#include "rollcall/cosky/service_instance_context.hpp"

#include <mutex>
#include <utility>

#include "rollcall/cosky/instance_id.hpp"

namespace rollcall::cosky {

struct ServiceInstanceContext::State {
    std::mutex mutex;
    std::optional<ServiceInstance> instance;  // Guarded by the mutex.
};

ServiceInstanceContext::ServiceInstanceContext() : state_(std::make_shared<State>()) {}

std::optional<ServiceInstance> ServiceInstanceContext::current() const {
    std::lock_guard const lock{state_->mutex};
    return state_->instance;
}

void ServiceInstanceContext::set_current(std::optional<ServiceInstance> instance) {
    if (instance) instance = validated(*instance);
    std::lock_guard const lock{state_->mutex};
    state_->instance.swap(instance);
}

}  // namespace rollcall::cosky
