#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/golden.hpp"
#include "support/golden_state.hpp"

/// The table that says how recorded steps are played and what then differs from the recording.
namespace rollcall::test::golden {

/// One difference from the recorded result: what to do to the expectation.
struct Difference {
    enum class When { always, alone, in_run } when = When::always;
    std::string why;
    std::string kind;
    std::vector<std::string> arguments;
    std::size_t line = 0;
};

/// How one step is played.
struct StepPlan {
    std::string step;
    std::string variant;  ///< Another way to play the same step; empty for the ordinary one.
    std::string play;     ///< Which operation; empty: none, because of `outside`.
    std::string outside;  ///< Why this step is not played.
    std::size_t line = 0;

    bool known_state = false;      ///< The provider registered the instance as it was stored.
    bool known_input = false;      ///< The provider registered the instance that it is now given.
    bool known_heartbeat = false;  ///< …and has just sent a heartbeat for it.
    bool known_deregistered = false;  ///< The input was registered and deregistered before.
    std::vector<std::pair<std::string, std::string>> inputs;  ///< Service and id, from the state.
    std::string input_id;
    std::string input_ephemeral;
    bool auto_reregister = true;
    bool prepared_in_step = false;  ///< The recorded change precedes the call.
    std::optional<std::string> result;
    std::optional<std::string> result_in_run;
    Ages ages;
    long long elapse = 0;              ///< Milliseconds that all heartbeats grow older.
    std::vector<std::string> expired;  ///< Keys that are gone before the call.
    std::vector<Difference> differences;
};

struct FilePlan {
    std::string file;
    long long lease = 90;                  ///< Seconds.
    long long heartbeat_interval = 3'000;  ///< Milliseconds.
    bool metadata_change_detection = false;
    long long metadata_update_interval = 600;  ///< Seconds.
    Ages ages;
    std::vector<StepPlan> steps;

    std::vector<StepPlan const*> find(std::string_view step) const;
};

using Plan = std::vector<FilePlan>;

/// Errors: `FormatError` for whatever does not fit.
Plan parse_plan(std::string_view text, std::string_view file);

/// What is wrong between a recording and its plan: steps that are neither played nor said to be
/// outside, and planned steps that were not recorded. Empty: nothing.
std::vector<std::string> gaps(Recording const& recording, FilePlan const& plan);

/// Changes what is expected of a step by the differences that hold there. `before` is the state
/// that the step met.
///
/// Errors: `FormatError` for a difference that changes nothing, where it was meant to hold.
void apply_differences(Expectation& expected, LiveKeys const& before, StepPlan const& plan,
                       Difference::When when, std::string_view file);

}  // namespace rollcall::test::golden
