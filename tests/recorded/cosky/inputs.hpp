#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/golden_plan.hpp"

#include "rollcall/cosky.hpp"

/// Between recorded texts and the types of our API.
namespace rollcall::cosky::test {

namespace golden = rollcall::test::golden;

inline std::string const recorded_ns{golden::recorded_namespace};

/// The first recorded script call of the step with at least `words` words, which are: EVALSHA, its
/// SHA-1, 1, namespace, arguments.
std::vector<std::string> script_call(golden::Step const& step, std::size_t words = 4);

/// Service and id of an instance.
using Names = std::pair<std::string, std::string>;

/// The instance that the step's call names: by the plan, else by the recorded arguments.
Names recorded_names(golden::Step const& step, golden::StepPlan const& plan);

/// The instance that the step's call was given: as the recorded program registered it, else as it
/// is stored, else no more than its id says.
ServiceInstance recorded_input(golden::Step const& step, golden::StepPlan const& plan,
                               golden::LiveKeys const& state);

/// The instance that a stored Hash describes, read plainly; none for one that describes none.
std::optional<ServiceInstance> stored_instance(golden::LiveKeys const& state,
                                               std::string const& id);

/// `order@http#10.0.1.5#8080 weight=1 eph=true ttlAt=1760000000 md={version=1.0}`
std::string notation(DiscoveredInstance const& found);
std::string notation(DiscoveredInstances const& found);

}  // namespace rollcall::cosky::test
