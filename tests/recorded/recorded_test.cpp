#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <memory>

#include "recorded/operations.hpp"
#include "support/golden_json.hpp"
#include "support/golden_plan.hpp"
#include "support/redis_server.hpp"

/// What the designs' own programs did, done by ours: the same keys and messages, byte for byte,
/// save the differences that the layout's `…-steps.txt` lists.
namespace rollcall::test {
namespace {

using golden::Difference;

constexpr int attempts = 8;

/// Of a recording or a test parameter: what stands before the first `-`.
std::string layout_of(std::string const& file) { return file.substr(0, file.find('-')); }

std::string steps_file(std::string const& layout) { return layout + "-steps.txt"; }

golden::Plan const& plan_of_layout(std::string const& layout) {
    static std::map<std::string, golden::Plan> plans;
    auto const [at, fresh] = plans.try_emplace(layout);
    if (fresh) {
        auto const file = steps_file(layout);
        at->second = golden::parse_plan(golden::read_data(file), file);
    }
    return at->second;
}

golden::FilePlan const& plan_of(std::string const& file) {
    auto const& plan = plan_of_layout(layout_of(file));
    auto const found = std::find_if(plan.begin(), plan.end(),
                                    [&](auto const& entry) { return entry.file == file; });
    if (found == plan.end()) throw std::runtime_error{"no plan for " + file};
    return *found;
}

std::vector<std::string> all_recordings() {
    std::vector<std::string> files;
    for (auto const* layout : {"streaming", "cosky"}) {
        auto const of_layout = golden::recordings_of(layout);
        files.insert(files.end(), of_layout.begin(), of_layout.end());
    }
    return files;
}

class RecordedSteps : public testing::TestWithParam<std::string> {
protected:
    RecordedSteps() : redis(server), listener(server) {}

    std::unique_ptr<Operations> make_operations(bool auto_reregister = true) const {
        if (layout == "cosky") return make_cosky_operations(server, file_plan);
        return make_streaming_operations(server, file_plan, auto_reregister);
    }

    std::string const layout = layout_of(GetParam());
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
        apply_differences(expected, state, step_plan, when, steps_file(layout));

        messages();
        window_.from = golden::redis_time(redis);
        auto const told = operations.play(step, step_plan, state);
        window_.until = golden::redis_time(redis);
        golden::Actual const actual{golden::read(redis), messages()};
        note_leases(state, golden::redis_time(redis));

        auto wrong = compare(expected, actual, window_);
        auto const wanted = wanted_result(step, step_plan, when);
        if (!golden::same_result(wanted, told, state)) {
            wrong.push_back("result: expected " + golden::in_quotes(wanted) + ", is " +
                            golden::in_quotes(told));
        }
        if (wrong.empty()) state = actual.keys;
        return wrong;
    }

    /// A machine that stood still for as long as leases and intervals last says nothing about the
    /// code.
    bool was_too_slow() const { return lease_ended_ || window_.until - began_ > 1'000; }

    /// Puts into Redis what the recording tool, or a part that is not ours yet, did in a step.
    void play_others(std::size_t index, golden::StepPlan const& step_plan,
                     golden::LiveKeys& state) {
        auto const now = golden::redis_time(redis);
        state = index == 0 ? place(recording.before(1), step_plan.ages, now)
                           : advance(std::move(state), recording, index);
        golden::settle(state, now);
        for (auto& [key, live] : state) {
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
        auto const played = make_operations();
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
            auto wrong = play(*played, i, step_plan, Difference::When::in_run, state);
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
    /// Notes whether a key of the state went by itself while the step was played and looked at.
    void note_leases(golden::LiveKeys const& state, long long now) {
        lease_ended_ = std::any_of(state.begin(), state.end(), [&](auto const& entry) {
            auto const& expiry = entry.second.expiry;
            return expiry.kind == golden::Expiry::Kind::at && expiry.value <= now;
        });
    }

    static std::string wanted_result(golden::Step const& step, golden::StepPlan const& step_plan,
                                     Difference::When when) {
        if (when == Difference::When::in_run && step_plan.result_in_run) {
            return *step_plan.result_in_run;
        }
        return step_plan.result.value_or(step.result);
    }

    bool lease_ended_ = false;
};

TEST(RecordedPlan, HasEveryRecordingAndNoOther) {
    for (auto const* layout : {"streaming", "cosky"}) {
        std::vector<std::string> planned;
        for (auto const& entry : plan_of_layout(layout)) planned.push_back(entry.file);
        EXPECT_THAT(planned, testing::UnorderedElementsAreArray(golden::recordings_of(layout)));
    }
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
                auto const played = make_operations(step_plan->auto_reregister);
                auto const keys = recording.before(step_plan->prepared_in_step ? i + 1 : i);
                played->prepare(step, *step_plan,
                                place(keys, step_plan->ages, golden::redis_time(redis)));
                began_ = golden::redis_time(redis);
                auto state = place(keys, step_plan->ages, began_);
                for (auto const& key : step_plan->expired) state.erase(key);
                load(redis, state);
                wrong = play(*played, i, *step_plan, Difference::When::alone, state);
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

INSTANTIATE_TEST_SUITE_P(Files, RecordedSteps, testing::ValuesIn(all_recordings()),
                         [](auto const& file) {
                             auto name = file.param.substr(0, file.param.find('.'));
                             std::replace(name.begin(), name.end(), '-', '_');
                             return name;
                         });

}  // namespace
}  // namespace rollcall::test
