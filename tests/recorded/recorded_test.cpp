#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <ostream>

#include "recorded/operations.hpp"
#include "support/golden_json.hpp"
#include "support/golden_plan.hpp"
#include "support/redis_server.hpp"

/// What the design's own program did, done by ours: the same keys and messages, byte for byte, save
/// the differences of streaming-steps.txt.
namespace rollcall::test {
namespace {

using golden::Difference;

constexpr int attempts = 5;

golden::Plan const& plan() {
    static auto const parsed =
        golden::parse_plan(golden::read_data("streaming-steps.txt"), "streaming-steps.txt");
    return parsed;
}

golden::FilePlan const& plan_of(std::string const& file) {
    auto const found = std::find_if(plan().begin(), plan().end(),
                                    [&](auto const& entry) { return entry.file == file; });
    if (found == plan().end()) throw std::runtime_error{"no plan for " + file};
    return *found;
}

class RecordedSteps : public testing::TestWithParam<std::string> {
protected:
    RecordedSteps() : redis(server), listener(server) {}

    golden::Recording const recording = golden::load_recording(GetParam());
    golden::FilePlan const& file_plan = plan_of(GetParam());
    RedisServer server;
    RedisClient redis;
    Listener listener;

    std::vector<golden::Message> messages() {
        std::vector<golden::Message> heard;
        for (auto& message : listener.drain()) {
            heard.push_back({std::move(message.channel), std::move(message.payload)});
        }
        return heard;
    }

    /// Plays one step on the objects given; what was wrong. `state` is what stands in Redis, and
    /// becomes what is expected to stand there.
    std::vector<std::string> play(Operations& operations, std::size_t index,
                                  golden::StepPlan const& step_plan, Difference::When when,
                                  golden::LiveKeys& state) {
        auto const& step = recording.steps[index];
        golden::Expectation expected;
        expected.keys = step_plan.prepared_in_step ? state : advance(state, recording, index);
        expected.messages = step.messages;
        apply_differences(expected, state, step_plan, when, "streaming-steps.txt");

        messages();
        window_.from = golden::redis_time(redis);
        auto const outcome = operations.play(step, step_plan, state);
        window_.until = golden::redis_time(redis);
        golden::Actual const actual{golden::read(redis), messages()};

        auto wrong = compare(expected, actual, window_);
        compare_outcome(outcome, step, step_plan, when, state, wrong);
        if (wrong.empty()) state = actual.keys;
        return wrong;
    }

    /// A machine that stood still for as long as leases and intervals last says nothing about the
    /// code.
    bool was_too_slow() const { return window_.until - began_ > 1'000; }

    /// Puts into Redis what the recording tool, or a part that is not ours yet, did in a step.
    void play_others(std::size_t index, golden::StepPlan const& step_plan,
                     golden::LiveKeys& state) {
        auto const now = golden::redis_time(redis);
        state = index == 0 ? place(recording.before(1), step_plan.ages, now)
                           : advance(std::move(state), recording, index);
        for (auto& [key, live] : state) {
            if (live.expiry.kind == golden::Expiry::Kind::set_in_step) {
                live.expiry = golden::Expiry::at(now + live.expiry.value * 1'000);
            }
            auto const grow_older = [&](std::string& time) {
                time = std::to_string(std::stoll(time) - step_plan.elapse);
            };
            for (auto& [member, score] : live.scored) grow_older(score);
            auto const time = live.fields.find("lastHeartbeatTime");
            if (time != live.fields.end()) grow_older(time->second);
        }
        load(redis, state);
    }

    /// Plays the whole recording on one set of objects, up to the first step that goes wrong.
    std::vector<std::string> play_all() {
        Operations operations{server, file_plan};
        golden::LiveKeys state;
        load(redis, state);
        began_ = golden::redis_time(redis);
        for (std::size_t i = 0; i < recording.steps.size(); ++i) {
            auto const& step = recording.steps[i];
            auto const plans = file_plan.find(step.name);
            auto const& step_plan = **std::find_if(
                plans.begin(), plans.end(), [](auto const* p) { return p->variant.empty(); });
            bool const is_ours = !step_plan.play.empty() && step_plan.play != "preparation";
            if (!is_ours || step_plan.prepared_in_step) play_others(i, step_plan, state);
            if (!is_ours) continue;
            for (auto const& key : step_plan.expired) {
                state.erase(key);
                redis.must({"DEL", key});
            }
            // Leases last for the whole run, intervals only from one call to the next.
            if (file_plan.lease >= 10) began_ = window_.from;
            auto wrong = play(operations, i, step_plan, Difference::When::in_run, state);
            if (!wrong.empty()) {
                wrong.insert(wrong.begin(), "step \"" + step.name + '"');
                return wrong;
            }
        }
        return {};
    }

    golden::Window window_;
    long long began_ = 0;

private:
    static void compare_outcome(Outcome const& outcome, golden::Step const& step,
                                golden::StepPlan const& step_plan, Difference::When when,
                                golden::LiveKeys const& state, std::vector<std::string>& wrong) {
        auto wanted = step_plan.result.value_or(step.result);
        if (when == Difference::When::in_run && step_plan.result_in_run) {
            wanted = *step_plan.result_in_run;
        }
        if (outcome.text != wanted) {
            wrong.push_back("result: expected " + golden::in_quotes(wanted) + ", is " +
                            golden::in_quotes(outcome.text));
        }
        if (!outcome.existed) return;
        auto input = recorded_inputs(step, step_plan, state).at(0);
        std::replace(input.instance_id.begin(), input.instance_id.end(), ':', '_');
        auto const found =
            state.find(std::string{golden::recorded_prefix} + ":services:" + input.service_name +
                       ":instance:" + input.instance_id);
        bool const existed = found != state.end() && found->second.fields.contains("host");
        if (*outcome.existed != existed) {
            wrong.push_back(std::string{"told that the instance was "} +
                            (existed ? "not there" : "there"));
        }
    }
};

TEST(RecordedPlan, HasEveryRecordingAndNoOther) {
    std::vector<std::string> planned;
    for (auto const& entry : plan()) planned.push_back(entry.file);
    EXPECT_THAT(planned, testing::UnorderedElementsAreArray(golden::recordings_of("streaming")));
}

TEST_P(RecordedSteps, AreAllPlayedOrSaidToBeOutside) {
    EXPECT_THAT(gaps(recording, file_plan), testing::IsEmpty());
}

TEST_P(RecordedSteps, LeaveWhatWasRecordedWhenPlayedAlone) {
    for (std::size_t i = 0; i < recording.steps.size(); ++i) {
        auto const& step = recording.steps[i];
        for (auto const* step_plan : file_plan.find(step.name)) {
            if (step_plan->play.empty() || step_plan->play == "preparation") continue;
            SCOPED_TRACE(step.name + (step_plan->variant.empty() ? "" : ", ") + step_plan->variant);
            std::vector<std::string> wrong;
            for (int attempt = 0; attempt < attempts; ++attempt) {
                Operations operations{server, file_plan, step_plan->auto_reregister};
                auto const keys = recording.before(step_plan->prepared_in_step ? i + 1 : i);
                operations.prepare(step, *step_plan,
                                   place(keys, step_plan->ages, golden::redis_time(redis)));
                began_ = golden::redis_time(redis);
                auto state = place(keys, step_plan->ages, began_);
                for (auto const& key : step_plan->expired) state.erase(key);
                load(redis, state);
                wrong = play(operations, i, *step_plan, Difference::When::alone, state);
                if (wrong.empty() || !was_too_slow()) break;
            }
            EXPECT_THAT(wrong, testing::IsEmpty());
        }
    }
}

TEST_P(RecordedSteps, LeaveWhatWasRecordedWhenPlayedInOneGo) {
    std::vector<std::string> wrong;
    for (int attempt = 0; attempt < attempts; ++attempt) {
        wrong = play_all();
        if (wrong.empty() || !was_too_slow()) break;
    }
    EXPECT_THAT(wrong, testing::IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(Files, RecordedSteps,
                         testing::ValuesIn(golden::recordings_of("streaming")),
                         [](auto const& file) {
                             auto name = file.param;
                             name = name.substr(name.find('-') + 1,
                                                name.find('.') - name.find('-') - 1);
                             std::replace(name.begin(), name.end(), '-', '_');
                             return name;
                         });

}  // namespace
}  // namespace rollcall::test
