#include <gtest/gtest.h>

#include "model/sequences.hpp"
#include "model/streaming/step.hpp"
#include "model/streaming/subject.hpp"

/// Random sequences against Redis and against a model in memory: after every step both hold the
/// same, have told callers the same, and have published the same.
namespace rollcall::test {
namespace {

SequenceReport new_report(std::uint64_t seed) {
    SequenceReport report;
    report.seed = seed;
    report.prefix = 'm' + std::to_string(seed);
    auto const services = report.prefix + ":services";
    report.keys.insert(services);
    for (auto const service : model_services) {
        auto const base = services + ':' + std::string{service};
        report.keys.insert(base + ":heartbeats");
        for (auto const id : model_ids) report.keys.insert(base + ":instance:" + std::string{id});
    }
    return report;
}

Task<Result<SequenceReport>> make_steps(Subject const& subject, SequenceReport report) {
    ReferenceModel model{report.prefix};
    StepGenerator generator{report.seed};
    for (std::size_t i = 0; i < steps_in_sequence && report.wrong.empty(); ++i) {
        auto const step = generator.next(model);
        report.steps.push_back(to_string(step));
        auto const expected = apply(step, model);
        auto const actual = co_await subject.perform(step);
        auto const contents = co_await subject.contents();
        report.wrong = differences(model.state(), contents);
        if (expected != actual) {
            report.wrong.push_back("the answer should be `" + expected + "`, is `" + actual + '`');
        }
        report.message_steps.resize(model.messages().size(), i);
    }
    report.messages = model.messages();
    co_return report;
}

class StreamingModelTest : public SequenceTest {
protected:
    SequenceReport run_sequence(std::uint64_t seed) override {
        auto report = new_report(seed);
        Subject const subject{client().core(), report.prefix};
        auto made = client().core()->run([&] { return make_steps(subject, report); });
        if (made.has_value()) return *std::move(made);
        report.wrong.push_back(made.error().detail());
        return report;
    }
};

TEST_P(StreamingModelTest, RandomSequencesLeaveTheSameStateAndMessages) { run_part(); }

INSTANTIATE_TEST_SUITE_P(Part, StreamingModelTest,
                         testing::Range<std::uint64_t>(0, SequenceTest::parts));

}  // namespace
}  // namespace rollcall::test
