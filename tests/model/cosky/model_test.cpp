#include <algorithm>
#include <gtest/gtest.h>

#include "model/cosky/step.hpp"
#include "model/cosky/subject.hpp"
#include "model/sequences.hpp"

/// Random sequences against Redis and against a model in memory: after every step both hold the
/// same, have told callers the same, and have published the same.
///
/// What the scripts do depends on Redis' clock, in whole seconds. Between two looks at that clock
/// lies one step; where a second passes in between, the model takes the side that fits.
namespace rollcall::cosky::test {
namespace {

using rollcall::test::SequenceReport;
using rollcall::test::SequenceTest;
using rollcall::test::steps_in_sequence;

/// How often a sequence begins anew whose step took so long that the model cannot tell any more.
constexpr int attempts = 10;

std::set<std::string> keys_of(ReferenceModel const& model) {
    std::set<std::string> keys{model.services_key(), model.stats_key()};
    for (auto const service : model_services) keys.insert(model.list_key(std::string{service}));
    for (auto const id : model_ids) keys.insert(model.hash_key(std::string{id}));
    return keys;
}

/// A seed's sequence under a namespace of its own.
class Sequence {
public:
    Sequence(Client const& client, std::uint64_t seed, int attempt)
        : ns_(name(seed, attempt)),
          subject_(client, ns_),
          model_(ns_, model_processes()),
          generator_(seed) {
        report_.seed = seed;
        report_.prefix = ns_;
        report_.keys = keys_of(model_);
    }

    SequenceReport run() {
        auto now = subject_.contents(report_.keys).time;
        for (std::size_t i = 0; i < steps_in_sequence && report_.wrong.empty(); ++i) {
            now = make_step(i, now);
        }
        report_.messages = model_.messages();
        return report_;
    }

    /// What went wrong may be due to a clock that went on during the step.
    bool is_unclear() const { return is_unclear_; }

private:
    static std::string name(std::uint64_t seed, int attempt) {
        auto ns = 'm' + std::to_string(seed);
        return attempt == 0 ? ns : ns + '-' + std::to_string(attempt);
    }

    /// Gives Redis' time after the step; `from` is that before it.
    long long make_step(std::size_t index, long long from) {
        auto const step = generator_.next(from / 1'000);
        report_.steps.push_back(to_string(step));
        auto const before = model_;
        auto const answer = subject_.perform(step);
        auto contents = subject_.contents(report_.keys);
        golden::Window const window{from, contents.time};
        is_unclear_ = clock_matters(before.keys(), window);

        report_.wrong = compare(step, from, answer, contents, window);
        if (!report_.wrong.empty() && is_unclear_) {
            model_ = before;
            report_.wrong = compare(step, contents.time, answer, contents, window);
        }
        report_.message_steps.resize(model_.messages().size(), index);
        if (has_order_of_sets(step)) report_.unordered.insert(index);
        model_.adopt(std::move(contents.keys));
        return window.until;
    }

    std::vector<std::string> compare(Step const& step, long long clock, Answer const& answer,
                                     Subject::Contents const& contents,
                                     golden::Window const& window) {
        model_.set_clock(clock);
        auto const expected = apply(step, model_);
        auto wrong = golden::compare({model_.keys(), {}}, {contents.keys, {}}, window);
        wrong.insert(wrong.end(), contents.odd.begin(), contents.odd.end());
        if (expected.text != answer.text) {
            wrong.push_back("the answer should be `" + expected.text + "`, is `" + answer.text +
                            '`');
        } else {
            compare_leases(expected, answer, wrong);
        }
        for (std::size_t i = 0; i < model_processes().size(); ++i) {
            if (subject_.own(i) != model_.process(i).own) {
                wrong.push_back("process " + std::to_string(i) + " keeps other instances");
            }
        }
        return wrong;
    }

    static void compare_leases(Answer const& expected, Answer const& answer,
                               std::vector<std::string>& wrong) {
        for (std::size_t i = 0; i < expected.ttl_at.size(); ++i) {
            auto const& wanted = expected.ttl_at[i];
            auto const& found = answer.ttl_at[i];
            auto const end = golden::leased_until(wanted);
            if (end ? !golden::is_end_of_lease(found, *end) : found != wanted) {
                wrong.push_back("ttl_at should be " + wanted + ", is " + found);
            }
        }
    }

    /// Scripts that go through sets announce in whatever order these have.
    static bool has_order_of_sets(Step const& step) {
        using Kind = Step::Kind;
        return step.kind == Kind::stat || step.kind == Kind::count ||
               step.kind == Kind::remove_service;
    }

    /// Whether whole seconds, of the clock or of what is left of a lease, changed meanwhile.
    static bool clock_matters(golden::LiveKeys const& keys, golden::Window const& window) {
        if (window.from / 1'000 != window.until / 1'000) return true;
        return std::any_of(keys.begin(), keys.end(), [&](auto const& entry) {
            auto const& expiry = entry.second.expiry;
            return expiry.kind == golden::Expiry::Kind::at &&
                   (expiry.value - window.from + 500) / 1'000 !=
                       (expiry.value - window.until + 500) / 1'000;
        });
    }

    std::string ns_;
    Subject subject_;
    ReferenceModel model_;
    StepGenerator generator_;
    SequenceReport report_;
    bool is_unclear_ = false;
};

class CoskyModelTest : public SequenceTest {
protected:
    SequenceReport run_sequence(std::uint64_t seed) override {
        std::set<std::string> keys;
        for (int attempt = 0;; ++attempt) {
            Sequence sequence{client(), seed, attempt};
            auto report = sequence.run();
            keys.merge(report.keys);
            if (report.wrong.empty() || !sequence.is_unclear() || attempt == attempts - 1) {
                report.keys = std::move(keys);
                return report;
            }
        }
    }
};

TEST_P(CoskyModelTest, RandomSequencesLeaveTheSameStateAndMessages) { run_part(); }

INSTANTIATE_TEST_SUITE_P(Part, CoskyModelTest,
                         testing::Range<std::uint64_t>(0, SequenceTest::parts));

}  // namespace
}  // namespace rollcall::cosky::test
