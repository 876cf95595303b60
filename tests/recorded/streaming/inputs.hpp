#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "support/golden_plan.hpp"

#include "rollcall/streaming.hpp"

/// Between recorded texts and the types of our API.
namespace rollcall::test {

/// The document of a filter as its two sections.
struct RecordedFilters {
    streaming::Filters metadata;
    streaming::Filters metrics;
};
RecordedFilters recorded_filters(golden::Step const& step);

/// The instances that the step's call was given: from the documents that the recorded program
/// registered, else from its message, else, by the plan, from the state.
std::vector<ServiceInstance> recorded_inputs(golden::Step const& step, golden::StepPlan const& plan,
                                             golden::LiveKeys const& state);

/// The instance that a stored Hash describes, read plainly.
ServiceInstance stored_instance(golden::LiveKeys const& state, std::string const& service,
                                std::string const& id);

/// `[o-1 http://10.0.0.5:8080 w=3 enabled healthy ephemeral md={region=us}, …]`
std::string notation(std::vector<ServiceInstance> const& instances);

/// `{cpu=45.5, latency=12}`
std::string notation(streaming::AdminValues const& values);

}  // namespace rollcall::test
