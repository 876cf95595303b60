#pragma once

#include <memory>
#include <optional>

#include "rollcall/instance.hpp"

#pragma GCC visibility push(default)

namespace rollcall::cosky {

/// The instance that this process is, once it knows. Copies share it. Source: spec 10.
///
/// Differs from the design: it is an object that is passed, not process-wide state.
/// Thread safety: all members from any thread.
class ServiceInstanceContext {
public:
    ServiceInstanceContext();

    std::optional<ServiceInstance> current() const;
    /// None: it is no instance any more. Errors: `std::invalid_argument` as of `validated`.
    void set_current(std::optional<ServiceInstance> instance);

private:
    struct State;
    std::shared_ptr<State> state_;
};

}  // namespace rollcall::cosky

#pragma GCC visibility pop
