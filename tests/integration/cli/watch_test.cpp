// `rollcall watch`: what is there, and every change as it happens.

#include <boost/json/parse.hpp>
#include <csignal>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <sstream>
#include <unistd.h>

#include "program.hpp"

namespace rollcall::test {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

class WatchTest : public CliTest {
protected:
    void add(std::string const& service, std::string const& id, Arguments further = {}) {
        Arguments arguments{"register", "--service", service,  "--id", id,
                            "--host",   "10.0.0.5",  "--port", "80"};
        arguments.insert(arguments.end(), further.begin(), further.end());
        must(arguments);
    }

    /// `event service id reason` of each line so far.
    static std::vector<std::string> events(Program const& program) {
        std::vector<std::string> result;
        std::istringstream lines{program.out()};
        for (std::string line; std::getline(lines, line) && !lines.eof();) {
            auto const object = boost::json::parse(line).as_object();
            auto const text = [&](char const* key) {
                return std::string{object.at(key).as_string()};
            };
            auto event = text("event") + ' ' + text("service");
            if (auto const* const instance = object.if_contains("instance")) {
                event += ' ' + std::string{instance->at("id").as_string()};
            }
            if (object.at("reason").is_string()) event += " (" + text("reason") + ')';
            EXPECT_GT(object.at("at_ms").as_int64(), 1'700'000'000'000);
            result.push_back(std::move(event));
        }
        return result;
    }
    static bool comes(Program const& program, std::vector<std::string> const& expected) {
        auto const came = eventually([&] { return events(program).size() >= expected.size(); });
        EXPECT_EQ(events(program), expected) << program.err();
        return came;
    }
};

TEST_F(WatchTest, TellsEachChangeOfOneServiceAsALineOfJson) {
    add("web", "a");
    auto program = start({"watch", "web", "--output", "json"});
    ASSERT_TRUE(comes(program, {"current web a"}));
    add("web", "b", {"--weight", "3"});
    add("orders", "c");
    ASSERT_TRUE(comes(program, {"current web a", "added web b"}));
    must({"metadata", "set", "--service", "web", "--id", "b", "zone=x"});
    ASSERT_TRUE(comes(program, {"current web a", "added web b", "updated web b"}));
    must({"deregister", "--service", "web", "--id", "a"});
    ASSERT_TRUE(comes(program, {"current web a", "added web b", "updated web b",
                                "removed web a (deregistered)"}));
    program.signal(SIGTERM);
    EXPECT_EQ(program.wait().code, 0);
}

TEST_F(WatchTest, WithoutNamesItTellsOfAllServices) {
    add("web", "a");
    auto program = start({"watch", "--output", "json"});
    ASSERT_TRUE(comes(program, {"current web a"}));
    add("orders", "b");
    ASSERT_TRUE(comes(program, {"current web a", "added orders b"}));
    program.signal(SIGINT);
    EXPECT_EQ(program.wait().code, 0);
}

TEST_F(WatchTest, ItsTableSaysWhatChangedAndWhy) {
    add("web", "a");
    auto program = start({"watch", "web"});
    EXPECT_TRUE(
        eventually([&] { return program.out().find("http://10.0.0.5:80") != std::string::npos; }));
    must({"weight", "--service", "web", "--id", "a", "5"});
    EXPECT_TRUE(
        eventually([&] { return program.out().find("weight was 1") != std::string::npos; }));
    must({"disable", "--service", "web", "--id", "a"});
    must({"deregister", "--service", "web", "--id", "a"});
    EXPECT_TRUE(
        eventually([&] { return program.out().find("deregistered") != std::string::npos; }));
    EXPECT_THAT(program.out(), HasSubstr("EVENT"));
}

TEST_F(WatchTest, ARestartedEmptyRedisMakesSuspectsAndGoesOn) {
    add("web", "a");
    auto program = start({"watch", "web", "--output", "json"});
    ASSERT_TRUE(comes(program, {"current web a"}));
    server().kill();
    server().start();
    ASSERT_TRUE(comes(program, {"current web a", "suspect web a"}));
    add("web", "a");
    ASSERT_TRUE(comes(program, {"current web a", "suspect web a", "updated web a"}));
}

TEST_F(WatchTest, ForeignTextCannotActOnTheTerminal) {
    add("web", "a", {"--metadata", "note=x\x1b[2Jy\nz"});
    auto program = start({"watch"});
    EXPECT_TRUE(eventually([&] { return program.out().find("current") != std::string::npos; }));
    must({"metadata", "set", "--service", "web", "--id", "a", "note=\x1b[31m"});
    EXPECT_TRUE(eventually([&] { return program.out().find("\\x1b[31m") != std::string::npos; }));
    EXPECT_EQ(program.out().find('\x1b'), std::string::npos);
}

TEST_F(WatchTest, DrainKeepsTrafficFromAnInstanceAtOnce) {
    add("web", "a");
    auto const outcome =
        run({"drain", "--service", "web", "--id", "a", "--for", "5m", "--output", "json"});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(outcome.json().at("done").as_string(), "disabled");
    EXPECT_EQ(count("web"), 0U);
    auto const key = std::string{"redis_streaming_registry:rollcall:drained:web:a"};
    EXPECT_GT(redis().must({"PTTL", key}).integer, 86'400'000 + 290'000);
    EXPECT_EQ(run({"drain", "--service", "web", "--id", "b", "--for", "5m"}).code, 3);
    EXPECT_EQ(redis().must({"KEYS", "*drained:web:b"}).elements.size(), 0U);
    EXPECT_EQ(run({"drain", "--service", "web", "--id", "a", "--for", "0s"}).code, 2);
    EXPECT_EQ(run({"drain", "--service", "web", "--id", "a"}).code, 2);
    EXPECT_EQ(run({"drain", "--service", "web", "--id", "a", "--for", "1s", "--end"}).code, 2);
}

TEST_F(WatchTest, ADrainIsEndedEarlyOnce) {
    add("web", "a");
    Arguments const end{"drain", "--service", "web", "--id", "a", "--end", "--output", "json"};
    auto const none = run(end);
    EXPECT_EQ(none.code, 3);
    EXPECT_THAT(none.err, HasSubstr("is not drained"));
    must({"drain", "--service", "web", "--id", "a", "--for", "5m"});
    EXPECT_EQ(run(end).json().at("done").as_string(), "ended");
    EXPECT_EQ(run(end).code, 3);
    must({"drain", "--service", "web", "--id", "a", "--for", "5m"});
    must({"enable", "--service", "web", "--id", "a"});
    EXPECT_EQ(count("web"), 1U);
    EXPECT_EQ(redis().must({"KEYS", "*drained*"}).elements.size(), 0U);
}

TEST_F(WatchTest, DrainInTheLayoutOfCoskyDeregisters) {
    environment()["ROLLCALL_LAYOUT"] = "cosky";
    must({"register", "--service", "web", "--host", "10.0.0.5", "--port", "80"});
    auto const outcome = run({"drain", "--service", "web", "--id", "web@http#10.0.0.5#80", "--for",
                              "5m", "--output", "json"});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(outcome.json().at("done").as_string(), "deregistered");
    EXPECT_EQ(count("web"), 0U);
    must({"drain", "--service", "web", "--id", "web@http#10.0.0.5#80", "--for", "9m"});
    auto const key = std::string{"cosky-{default}:rollcall:drained:web:web@http#10.0.0.5#80"};
    EXPECT_GT(redis().must({"PTTL", key}).integer, 86'400'000 + 8 * 60'000)
        << "what is drained is drained for longer, though it is not there";
}

TEST_F(WatchTest, AServiceThatNobodyKnowsIsToldOnce) {
    add("orders", "a");
    auto program = start({"watch", "ordres", "orders"});
    EXPECT_TRUE(eventually(
        [&] { return program.err().find("did you mean \"orders\"?") != std::string::npos; }));
    EXPECT_THAT(program.err(), HasSubstr("no service \"ordres\" is known in"));
    EXPECT_THAT(program.err(), testing::Not(HasSubstr("no service \"orders\"")));
    program.signal(SIGTERM);
    EXPECT_EQ(program.wait().code, 0);
}

TEST_F(WatchTest, EndsQuietlyWhenNobodyReadsAnyMore) {
    int ends[2];
    ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    auto given = options({"watch", "web"});
    given.output = ends[1];
    Program program{given};
    ::close(ends[1]);
    char one = 0;
    EXPECT_EQ(::read(ends[0], &one, 1), 1) << "its heading";
    ::close(ends[0]);
    add("web", "a");
    auto const outcome = program.wait();
    EXPECT_EQ(outcome.code, 141);
}

TEST_F(WatchTest, ABadNameIsRefusedBeforeAnythingIsPrinted) {
    auto const outcome = run({"watch", "web", " "});
    EXPECT_EQ(outcome.code, 2);
    EXPECT_EQ(outcome.out, "");
    EXPECT_THAT(outcome.err, HasSubstr("service name"));
}

}  // namespace
}  // namespace rollcall::test
