#include "model/sequences.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <map>
#include <mutex>
#include <optional>
#include <thread>

#include "registry/epoch.hpp"

namespace rollcall::test {

namespace {

using Messages = std::vector<golden::Message>;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::uint64_t default_sequences = 1'000;
#else
constexpr std::uint64_t default_sequences = 10'000;
#endif

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

void expect_message(SequenceReport const& report, std::size_t index, Messages const& expected,
                    Messages const& actual, std::vector<std::string>& wrong) {
    auto const of_step = index < expected.size()
                             ? numbered(" of step ", report.message_steps[index] + 1)
                             : std::string{" after the last one"};
    auto const where = numbered("message ", index + 1) + of_step;
    auto const text = [](golden::Message const& message) {
        return message.channel + ' ' + message.payload;
    };
    if (index >= actual.size()) {
        wrong.push_back(where + " is missing: " + text(expected[index]));
    } else if (index >= expected.size()) {
        wrong.push_back(where + " should not be there: " + text(actual[index]));
    } else if (expected[index] != actual[index]) {
        wrong.push_back(where + " should be " + text(expected[index]) + ", is " +
                        text(actual[index]));
    }
}

/// Puts those messages in order, in step with what the report expects, that may come in any.
void sort_unordered(SequenceReport const& report, Messages& messages) {
    auto const by_text = [](golden::Message const& a, golden::Message const& b) {
        return std::pair{a.channel, a.payload} < std::pair{b.channel, b.payload};
    };
    auto const end = std::min(messages.size(), report.message_steps.size());
    for (std::size_t first = 0; first < end;) {
        auto last = first;
        while (last < end && report.message_steps[last] == report.message_steps[first]) ++last;
        if (report.unordered.contains(report.message_steps[first])) {
            auto const begin = messages.begin();
            std::sort(begin + static_cast<std::ptrdiff_t>(first),
                      begin + static_cast<std::ptrdiff_t>(last), by_text);
        }
        first = last;
    }
}

std::string explanation(SequenceReport const& report) {
    auto out = numbered("sequence ", report.seed) + ":\n";
    for (std::size_t i = 0; i < report.steps.size(); ++i) {
        out += numbered("  ", i + 1) + ". " + report.steps[i] + '\n';
    }
    for (auto const& line : report.wrong) out += "wrong: " + line + '\n';
    std::string const suite =
        testing::UnitTest::GetInstance()->current_test_info()->test_suite_name();
    return out + numbered("replay: ROLLCALL_MODEL_SEED=", report.seed) +
           " model_tests --gtest_filter='" + suite + ".*'";
}

}  // namespace

SequenceTest::SequenceTest()
    : server_({"client-output-buffer-limit pubsub 0 0 0"}),
      redis_(server_),
      listener_(server_),
      client_(options()) {}

ClientOptions SequenceTest::options() const {
    ClientOptions made;
    made.url = server_.url();
    made.request_timeout = std::chrono::seconds{60};
    return made;
}

std::vector<SequenceReport> SequenceTest::run(std::uint64_t first, std::uint64_t count) {
    std::vector<SequenceReport> reports;
    std::mutex mutex;
    std::atomic<std::uint64_t> next{first};
    auto const work = [&] {
        for (auto seed = next++; seed < first + count; seed = next++) {
            auto report = run_sequence(seed);
            std::lock_guard const lock{mutex};
            reports.push_back(std::move(report));
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

void SequenceTest::check_messages(std::vector<SequenceReport>& reports) {
    std::map<std::string, Messages> heard;
    for (auto& message : listener_.drain()) {
        auto const prefix = message.channel.substr(0, message.channel.find(':'));
        heard[prefix].push_back({std::move(message.channel), std::move(message.payload)});
    }
    for (auto& report : reports) {
        auto expected = report.messages;
        auto& actual = heard[report.prefix];
        sort_unordered(report, expected);
        sort_unordered(report, actual);
        auto const count = std::max(actual.size(), expected.size());
        for (std::size_t i = 0; i < count; ++i) {
            expect_message(report, i, expected, actual, report.wrong);
        }
    }
}

/// Nothing stands in Redis that no step was asked about.
void SequenceTest::check_keys(std::vector<SequenceReport>& reports) {
    std::set<std::string> known;
    for (auto const& report : reports) {
        known.insert(report.keys.begin(), report.keys.end());
        known.insert(epoch_key_of(report.prefix));
    }
    for (auto const& key : redis_.must({"KEYS", "*"}).texts()) {
        if (!known.contains(key)) reports.front().wrong.push_back("unknown key " + key);
    }
}

void SequenceTest::run_part() {
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

}  // namespace rollcall::test

/// String order in filters is that of the server's locale: pinned before any server is started.
int main(int count, char** arguments) {
    ::setenv("LC_ALL", "C", 1);
    testing::InitGoogleTest(&count, arguments);
    return RUN_ALL_TESTS();
}
