#pragma once

#include <memory>
#include <string>

#include "support/golden_plan.hpp"
#include "support/redis_server.hpp"

namespace rollcall::test {

/// The objects of our API that play the steps of one recording, and how they do it.
class Operations {
public:
    Operations() = default;
    virtual ~Operations() = default;
    Operations(Operations const&) = delete;
    Operations& operator=(Operations const&) = delete;

    /// Does what the step before the call did, as far as these objects must know of it. `state` is
    /// what the step meets; Redis will be loaded with it afterwards.
    virtual void prepare(golden::Step const& step, golden::StepPlan const& plan,
                         golden::LiveKeys const& state) = 0;

    /// Does the operation of the step once, with the inputs of the recording; what its caller was
    /// told, in the notation of the recordings.
    virtual std::string play(golden::Step const& step, golden::StepPlan const& plan,
                             golden::LiveKeys const& state) = 0;
};

std::unique_ptr<Operations> make_streaming_operations(RedisServer const& server,
                                                      golden::FilePlan const& plan,
                                                      bool auto_reregister);
std::unique_ptr<Operations> make_cosky_operations(RedisServer const& server,
                                                  golden::FilePlan const& plan);

}  // namespace rollcall::test
