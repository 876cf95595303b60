#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <gtest/gtest.h>
#include <mutex>
#include <optional>
#include <set>
#include <thread>

#include "model/step.hpp"
#include "model/subject.hpp"
#include "support/redis_server.hpp"

/// Random sequences against Redis and against a model in memory: after every step both hold the
/// same, have told callers the same, and have published the same.
namespace rollcall::test {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::uint64_t default_sequences = 1'000;
#else
constexpr std::uint64_t default_sequences = 10'000;
#endif

constexpr int steps_in_sequence = 24;
constexpr std::uint64_t batch_size = 256;
constexpr int workers = 16;

std::optional<std::uint64_t> number_from_environment(char const* name) {
    char const* text = std::getenv(name);
    if (!text || !*text) return {};
    return std::strtoull(text, nullptr, 10);
}

std::string numbered(std::string text, std::uint64_t number) {
    return text += std::to_string(number);
}

std::string prefix_of(std::uint64_t seed) { return numbered("m", seed); }

/// What became of one sequence.
struct Report {
    std::uint64_t seed = 0;
    std::vector<std::string> steps;
    std::vector<std::string> wrong;  ///< Of the last step that was made.
    std::vector<ReferenceModel::Message> messages;
    std::vector<std::size_t> message_steps;  ///< Which step each message belongs to.
    RegistryState state;
};

void expect_message(Report const& report, std::size_t index,
                    std::vector<ReferenceModel::Message> const& actual,
                    std::vector<std::string>& wrong) {
    auto const of_step = index < report.messages.size()
                             ? numbered(" of step ", report.message_steps[index] + 1)
                             : std::string{" after the last one"};
    auto const where = numbered("message ", index + 1) + of_step;
    if (index >= actual.size()) {
        wrong.push_back(where + " is missing: " + report.messages[index].payload);
    } else if (index >= report.messages.size()) {
        wrong.push_back(where + " should not be there: " + actual[index].payload);
    } else if (report.messages[index] != actual[index]) {
        wrong.push_back(where + " should be " + report.messages[index].payload + ", is " +
                        actual[index].payload);
    }
}

std::string explanation(Report const& report) {
    auto out = numbered("sequence ", report.seed) + ":\n";
    for (std::size_t i = 0; i < report.steps.size(); ++i) {
        out += numbered("  ", i + 1) + ". " + report.steps[i] + '\n';
    }
    for (auto const& line : report.wrong) out += "wrong: " + line + '\n';
    return out + numbered("replay: ROLLCALL_MODEL_SEED=", report.seed) + " model_tests";
}

Task<Result<Report>> run_sequence(Subject const& subject, std::uint64_t seed) {
    ReferenceModel model{prefix_of(seed)};
    StepGenerator generator{seed};
    Report report;
    report.seed = seed;
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
    report.state = model.state();
    co_return report;
}

/// The sequences are shared out between tests, so that no test takes long.
constexpr std::uint64_t parts = 5;

class ModelTest : public testing::TestWithParam<std::uint64_t> {
protected:
    ModelTest()
        : server_({"client-output-buffer-limit pubsub 0 0 0"}),
          redis_(server_),
          listener_(server_),
          client_(options()) {}

    ClientOptions options() const {
        ClientOptions made;
        made.url = server_.url();
        made.request_timeout = std::chrono::seconds{60};
        return made;
    }

    /// Runs the sequences `first` … `first + count - 1`, several at once.
    std::vector<Report> run(std::uint64_t first, std::uint64_t count) {
        std::vector<Report> reports;
        std::mutex mutex;
        std::atomic<std::uint64_t> next{first};
        auto const work = [&] {
            for (auto seed = next++; seed < first + count; seed = next++) {
                Subject const subject{client_.core(), prefix_of(seed)};
                auto report = client_.core()->run([&] { return run_sequence(subject, seed); });
                std::lock_guard const lock{mutex};
                reports.push_back(report.has_value() ? std::move(*report) : failed(seed, report));
            }
        };
        std::vector<std::thread> threads;
        for (int i = 0; i < workers; ++i) threads.emplace_back(work);
        for (auto& thread : threads) thread.join();
        std::sort(reports.begin(), reports.end(),
                  [](auto const& a, auto const& b) { return a.seed < b.seed; });
        check_messages(reports);
        check_keys(reports);
        redis_.must({"FLUSHALL"});
        return reports;
    }

private:
    static Report failed(std::uint64_t seed, Result<Report> const& report) {
        Report made;
        made.seed = seed;
        made.wrong.push_back(report.error().detail());
        return made;
    }

    void check_messages(std::vector<Report>& reports) {
        std::map<std::string, std::vector<ReferenceModel::Message>> heard;
        for (auto& message : listener_.drain()) {
            auto const prefix = message.channel.substr(0, message.channel.find(':'));
            heard[prefix].push_back({std::move(message.channel), std::move(message.payload)});
        }
        for (auto& report : reports) {
            auto const& actual = heard[prefix_of(report.seed)];
            auto const count = std::max(actual.size(), report.messages.size());
            for (std::size_t i = 0; i < count; ++i) {
                expect_message(report, i, actual, report.wrong);
            }
        }
    }

    /// Nothing stands in Redis that no step was asked about.
    void check_keys(std::vector<Report>& reports) {
        std::set<std::string> known;
        for (auto const& report : reports) {
            auto const prefix = prefix_of(report.seed) + ":services";
            known.insert(prefix);
            for (auto const service : model_services) {
                auto const base = prefix + ':' + std::string{service};
                known.insert(base + ":heartbeats");
                for (auto const id : model_ids) known.insert(base + ":instance:" + std::string{id});
            }
        }
        for (auto const& key : redis_.must({"KEYS", "*"}).texts()) {
            if (!known.contains(key)) reports.front().wrong.push_back("unknown key " + key);
        }
    }

    RedisServer server_;
    RedisClient redis_;
    Listener listener_;
    Client client_;
};

TEST_P(ModelTest, RandomSequencesLeaveTheSameStateAndMessages) {
    auto const seed = number_from_environment("ROLLCALL_MODEL_SEED");
    if (seed && GetParam() != 0) GTEST_SKIP() << "one sequence is asked for";
    auto const all =
        number_from_environment("ROLLCALL_MODEL_SEQUENCES").value_or(default_sequences);
    auto const first = seed.value_or(1 + all * GetParam() / parts);
    auto const end = seed ? first + 1 : 1 + all * (GetParam() + 1) / parts;
    for (auto at = first; at < end; at += batch_size) {
        for (auto const& report : run(at, std::min(batch_size, end - at))) {
            ASSERT_TRUE(report.wrong.empty()) << explanation(report);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Part, ModelTest, testing::Range<std::uint64_t>(0, parts));

}  // namespace
}  // namespace rollcall::test

/// String order in filters is that of the server's locale: pinned before any server is started.
int main(int count, char** arguments) {
    ::setenv("LC_ALL", "C", 1);
    testing::InitGoogleTest(&count, arguments);
    return RUN_ALL_TESTS();
}
