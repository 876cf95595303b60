#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "support/golden_plan.hpp"
#include "support/redis_server.hpp"

#include "rollcall/client.hpp"
#include "rollcall/streaming.hpp"

namespace rollcall::test {

/// What a caller was told, in the notation of the recordings.
struct Outcome {
    std::string text;
    /// For registrations and deregistrations: whether the instance was there before.
    std::optional<bool> existed = {};
};

/// The objects of our API that play the steps of one recording, and how they do it.
class Operations {
public:
    Operations(RedisServer const& server, golden::FilePlan const& plan,
               bool auto_reregister = true);
    ~Operations();

    /// Does what the step before the call did, as far as the provider must know of it. `state` is
    /// what the step meets; Redis is empty and will be loaded afterwards.
    void prepare(golden::Step const& step, golden::StepPlan const& plan,
                 golden::LiveKeys const& state);

    /// Does the operation of the step once, with the inputs of the recording.
    Outcome play(golden::Step const& step, golden::StepPlan const& plan,
                 golden::LiveKeys const& state);

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

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
