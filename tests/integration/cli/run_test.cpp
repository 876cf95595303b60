// `rollcall run`: what callers see, and what the command gets.

#include <csignal>
#include <fcntl.h>
#include <fstream>
#include <gmock/gmock.h>
#include <stdlib.h>
#include <unistd.h>

#include "run_fixture.hpp"

namespace rollcall::test {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

TEST_F(RunTest, RegistersWhenThePortAcceptsAndDeregistersAtTheEnd) {
    auto program = supervise({"--weight", "3", "--metadata", "a=b"}, {"late=300", "code=7"});
    ASSERT_TRUE(listed());
    EXPECT_THAT(program.out(), HasSubstr("ready"));
    auto const instance = list("web").at(0);
    EXPECT_EQ(instance.at("id").as_string(), "web-one");
    EXPECT_EQ(instance.at("port").as_int64(), port_);
    EXPECT_EQ(instance.at("weight").as_int64(), 3);
    EXPECT_EQ(instance.at("metadata").at("a").as_string(), "b");
    program.signal(SIGTERM);
    auto const outcome = program.wait();
    EXPECT_EQ(outcome.code, 7);
    EXPECT_EQ(count("web"), 0u);
    EXPECT_EQ(redis().must({"KEYS", "*web-one*"}).elements.size(), 0u);
}

// Card BC-03.
TEST_F(RunTest, IsOutOfTheListWhileTheCommandStillServes) {
    auto program =
        supervise({"--check", "http:/", "--check-interval", "100ms"}, {"linger=3000", "code=7"});
    ASSERT_TRUE(listed());
    auto const begin = std::chrono::steady_clock::now();
    program.signal(SIGTERM);
    ASSERT_TRUE(eventually([&] { return count("web") == 0; }, 500ms));
    EXPECT_THAT(program.out(), Not(HasSubstr("signal"))) << "callers first";
    ASSERT_TRUE(eventually([&] { return program.out().find("signal 15") != std::string::npos; }));
    auto const passed = std::chrono::steady_clock::now() - begin;
    EXPECT_GE(passed, 900ms) << "--settle";
    program.signal(SIGINT);
    ASSERT_TRUE(eventually([&] { return program.out().find("signal 2") != std::string::npos; }));
    while (program.running()) ASSERT_EQ(count("web"), 0u) << "brought back";
    EXPECT_EQ(program.wait().code, 7);
}

TEST_F(RunTest, ASecondSignalIsPassedOnAtOnce) {
    auto program = supervise({"--settle", "20s"}, {"linger=300"});
    ASSERT_TRUE(listed());
    program.signal(SIGTERM);
    ASSERT_TRUE(listed(0));
    program.signal(SIGINT);
    EXPECT_EQ(program.wait(5s).code, 0);
    EXPECT_THAT(program.out(), HasSubstr("signal 15"));
}

TEST_F(RunTest, ACrashDeregistersAtOnce) {
    lease_ = "60s";
    auto program = supervise({}, {"crash=800"});
    ASSERT_TRUE(listed());
    auto const outcome = program.wait();
    EXPECT_EQ(outcome.code, 128 + SIGABRT);
    EXPECT_EQ(count("web"), 0u);
}

TEST_F(RunTest, StopsACommandWhosePortNeverAccepts) {
    auto program = supervise({"--start-timeout", "500ms"}, {"late=60000"});
    auto const outcome = program.wait();
    EXPECT_EQ(outcome.code, 5);
    EXPECT_THAT(outcome.err, HasSubstr("did not accept within 500ms"));
    EXPECT_THAT(outcome.out, HasSubstr("signal 15"));
    EXPECT_EQ(count("web"), 0u);
}

TEST_F(RunTest, TakesTheCodeOfACommandThatEndsEarly) {
    auto program = supervise({}, {"show", "code=9"});
    auto const outcome = program.wait();
    EXPECT_EQ(outcome.code, 9);
    EXPECT_THAT(outcome.err, HasSubstr("ended before port"));
}

TEST_F(RunTest, ForwardsOtherSignals) {
    auto program = supervise({}, {});
    ASSERT_TRUE(listed());
    for (int const number : {SIGHUP, SIGUSR1, SIGUSR2, SIGWINCH, SIGQUIT, SIGALRM, SIGIO, SIGVTALRM,
                             SIGPROF, SIGXCPU, SIGRTMIN + 3}) {
        program.signal(number);
        EXPECT_TRUE(eventually([&] {
            return program.out().find("signal " + std::to_string(number) + "\n") !=
                   std::string::npos;
        })) << number;
    }
    EXPECT_EQ(count("web"), 1u);
}

// Card BC-06, last part but one.
TEST_F(RunTest, GivesTheCommandItsArgumentsAndNothingOfOurs) {
    auto program = supervise({"--metadata", "a=b"}, {"show", "--metadata", "c=d", "[x,y]", "--",
                                                     "--service", "", "--help", "{}"});
    auto const outcome = program.wait();
    EXPECT_EQ(outcome.code, 0);
    EXPECT_THAT(outcome.out,
                HasSubstr("argument show\nargument --metadata\nargument c=d\nargument [x,y]\n"
                          "argument --\nargument --service\nargument \nargument --help\n"
                          "argument {}\n"
                          "descriptor 0\ndescriptor 1\ndescriptor 2\nSigBlk"));
    EXPECT_THAT(outcome.out, HasSubstr("SigBlk:\t0000000000000000\n"));
    EXPECT_THAT(outcome.out, HasSubstr("SigIgn:\t0000000000000000\n"));
    EXPECT_THAT(outcome.out, HasSubstr("death 15\ngroup own\nurl " + server().url()));
}

TEST_F(RunTest, HandsOnWhatItsOwnParentHandedOn) {
    auto const descriptor = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    ASSERT_GT(descriptor, 2);
    auto handing_on = supervised_options({}, {"show"});
    handing_on.hand_on = descriptor;
    auto const outcome = Program{handing_on}.wait();
    EXPECT_THAT(outcome.out,
                HasSubstr("descriptor 2\ndescriptor " + std::to_string(descriptor) + "\nSigBlk"));
    ::close(descriptor);
}

TEST_F(RunTest, AUrlOfTheCommandLineIsNotHandedOn) {
    environment().erase("ROLLCALL_URL");
    auto const outcome = supervise({"--url", server().url(), "--keep-child"}, {"show"}).wait();
    EXPECT_THAT(outcome.out, HasSubstr("death 0\n"));
    EXPECT_THAT(outcome.out, HasSubstr("no url\n"));
}

TEST_F(RunTest, ReapsOrphansThatBecomeItsOwn) {
    auto taking = supervised_options({}, {"orphan"});
    taking.takes_orphans = true;
    Program program{taking};
    pid_t orphan = 0;
    ASSERT_TRUE(eventually([&] {
        auto const out = program.out();
        auto const at = out.find("orphan ");
        if (at == std::string::npos || out.find('\n', at) == std::string::npos) return false;
        orphan = std::atoi(out.c_str() + at + 7);
        return true;
    }));
    EXPECT_TRUE(eventually([&] { return ::kill(orphan, 0) != 0; })) << "no zombie is left";
    EXPECT_TRUE(listed()) << "it is not the command";
}

// The terminal sends to the whole foreground group: the command must not be in it.
TEST_F(RunTest, CtrlCDeregistersBeforeTheCommandHearsOfIt) {
    auto const terminal = ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    ASSERT_TRUE(terminal >= 0 && ::grantpt(terminal) == 0 && ::unlockpt(terminal) == 0);
    auto at_terminal = supervised_options({}, {"code=5"});
    at_terminal.terminal = ::ptsname(terminal);
    Program program{at_terminal};
    ASSERT_TRUE(listed());
    ASSERT_EQ(::write(terminal, "\x03", 1), 1);
    ASSERT_TRUE(listed(0));
    EXPECT_THAT(program.out(), Not(HasSubstr("signal")));
    EXPECT_EQ(program.wait().code, 5);
    EXPECT_THAT(program.out(), HasSubstr("signal 2\n"));
    ::close(terminal);
}

TEST_F(RunTest, IsSuspendedAndResumedTogetherWithItsCommand) {
    lease_ = "60s";
    auto program = supervise({}, {});
    ASSERT_TRUE(listed());
    auto const command = child_of(program);
    program.signal(SIGTSTP);
    EXPECT_TRUE(
        eventually([&] { return state_of(command) == 'T' && state_of(program.pid()) == 'T'; }));
    program.signal(SIGCONT);
    EXPECT_TRUE(eventually([&] { return state_of(command) != 'T'; }));
    program.signal(SIGTERM);
    EXPECT_EQ(program.wait().code, 0);
}

TEST_F(RunTest, WarnsOfARedisThatMayEvict) {
    redis().must({"CONFIG", "SET", "maxmemory-policy", "allkeys-lru"});
    auto program = supervise({}, {});
    EXPECT_TRUE(eventually(
        [&] { return program.err().find("maxmemory-policy allkeys-lru") != std::string::npos; }));
}

TEST_F(RunTest, AKilledSupervisorLeavesItsCommandASigterm) {
    lease_ = "1s";
    auto program = supervise({}, {});
    ASSERT_TRUE(listed());
    program.signal(SIGKILL);
    program.wait();
    EXPECT_TRUE(eventually([&] { return program.out().find("signal 15") != std::string::npos; }));
    Listener listener{server()};
    auto housekeeper = start({"serve", "--lease", "1s"});
    ASSERT_TRUE(listed(0));
    std::string announced;
    EXPECT_TRUE(eventually([&] {
        for (auto const& message : listener.drain()) announced += message.payload;
        return announced.find("REMOVED") != std::string::npos;
    })) << "swept and announced";
    EXPECT_TRUE(eventually([&] { return redis().must({"KEYS", "*web-one*"}).elements.empty(); }));
}

TEST_F(RunTest, ACheckTakesTheInstanceOutAndBack) {
    auto const sick = (home() / "sick").string();
    auto program =
        supervise({"--check", "http:/healthz", "--check-interval", "50ms"}, {"sick=" + sick});
    ASSERT_TRUE(listed());
    std::ofstream{sick} << "x";
    ASSERT_TRUE(listed(0));
    auto const all = list("web", {"--all"});
    ASSERT_EQ(all.size(), 1u) << "unhealthy, not gone";
    EXPECT_FALSE(all.at(0).at("healthy").as_bool());
    std::filesystem::remove(sick);
    EXPECT_TRUE(listed());
}

TEST_F(RunTest, WhatFailsItsCheckFromTheBeginningIsRegisteredAsUnhealthy) {
    auto const sick = (home() / "sick").string();
    std::ofstream{sick} << "x";
    auto program = supervise({"--check", "http:/", "--check-interval", "50ms"}, {"sick=" + sick});
    ASSERT_TRUE(eventually([&] { return list("web", {"--all"}).size() == 1; }));
    EXPECT_EQ(count("web"), 0u);
    EXPECT_TRUE(says(program, " fails (GET /: 503): not offered to callers"));
    EXPECT_TRUE(says(program, ", unhealthy"));
    std::filesystem::remove(sick);
    EXPECT_TRUE(listed());
}

TEST_F(RunTest, AnAnswerThatNeverComesFailsTheCheck) {
    auto program = supervise(
        {"--check", "http:/", "--check-interval", "50ms", "--check-timeout", "100ms"}, {"mute"});
    ASSERT_TRUE(eventually([&] { return list("web", {"--all"}).size() == 1; }));
    EXPECT_EQ(count("web"), 0u);
    program.signal(SIGTERM);
    program.wait();
    auto connected = supervise({"--check", "tcp"}, {"mute"});
    EXPECT_TRUE(listed()) << "it lets connect";
}

TEST_F(RunTest, EndsInTimeWhileRedisIsAway) {
    auto program = supervise({}, {"code=4"});
    ASSERT_TRUE(listed());
    server().kill();
    ASSERT_TRUE(says(program, "lost the connection to"));
    program.signal(SIGTERM);
    ASSERT_TRUE(
        eventually([&] { return program.out().find("signal 15") != std::string::npos; }, 1s));
    auto const outcome = program.wait();
    EXPECT_EQ(outcome.code, 4);
    EXPECT_THAT(outcome.err, HasSubstr("cannot deregister"));
}

TEST_F(RunTest, EndsAtOnceWhereRedisHasNeverBeen) {
    server().kill();
    // The registration is under way from the beginning.
    auto program = supervise({"--timeout", "10s", "--start-timeout", "0"}, {"code=4"});
    ASSERT_TRUE(eventually([&] { return program.out().find("ready") != std::string::npos; }));
    program.signal(SIGTERM);
    auto const outcome = program.wait(3s);
    EXPECT_EQ(outcome.code, 4);
    EXPECT_THAT(outcome.out, HasSubstr("signal 15"));
}

// Card BC-07.
TEST_F(RunTest, KeepsItsTimetableWhereItMayNotPublish) {
    redis().must({"ACL", "SETUSER", "prov", "on", ">pw", "~*", "+@all", "resetchannels"});
    environment()["ROLLCALL_URL"] = "unix://prov:pw@" + server().socket();
    auto const calls = [this] {
        auto const text = redis().must({"INFO", "commandstats"}).text;
        auto const at = text.find("cmdstat_evalsha:calls=");
        return at == std::string::npos ? 0 : std::atoi(text.c_str() + at + 22);
    };
    auto program = supervise({}, {});
    ASSERT_TRUE(listed());
    auto const before = calls();
    auto const begin = std::chrono::steady_clock::now();
    ASSERT_TRUE(eventually([&] { return std::chrono::steady_clock::now() - begin > 3s; }, 10s));
    EXPECT_LE(calls() - before, 6) << "one heartbeat a second";
    EXPECT_THAT(program.err(), HasSubstr("not announced"));
    EXPECT_THAT(program.err(), HasSubstr(":services:web:changes"));
}

TEST_F(RunTest, APortThatAnotherProcessHasIsRefused) {
    auto first = supervise({}, {});
    ASSERT_TRUE(listed());
    auto const second = supervise({}, {}).wait();
    EXPECT_EQ(second.code, 2);
    EXPECT_THAT(second.err, HasSubstr("--port \"" + port() + "\": another process accepts"));
    EXPECT_EQ(second.out, "") << "nothing was started";
    EXPECT_EQ(count("web"), 1u);
}

TEST_F(RunTest, APortMayBeSharedWhereItIsNotAskedFor) {
    auto first = supervise({}, {});
    ASSERT_TRUE(listed());
    auto second = supervise({"--start-timeout", "0"}, {"show"});
    EXPECT_EQ(second.wait().code, 0);
}

TEST_F(RunTest, SaysWhyACommandCannotBeExecuted) {
    auto const outcome =
        run({"run", "--service", "web", "--port", port(), "--host", "h", "--", "/no/such/program"});
    EXPECT_EQ(outcome.code, 2);
    EXPECT_THAT(outcome.err,
                HasSubstr("command \"/no/such/program\": cannot be executed: No such file"));
    EXPECT_EQ(count("web"), 0u);
}

TEST_F(RunTest, ChecksItsOptionsBeforeItStartsAnything) {
    auto const marker = (home() / "started").string();
    for (Arguments const& option :
         {Arguments{"--check", "udp"}, Arguments{"--check", "http:healthz"},
          Arguments{"--settle", "-1s"}, Arguments{"--fall", "0"}, Arguments{"--weight", "-1"},
          Arguments{"--start-timeout", "x"}, Arguments{"--host", "a b"},
          Arguments{"--scheme", "gopher"}, Arguments{"--port", "0"},
          Arguments{"--metadata", "=v"}}) {
        Arguments arguments{"run", "--service", "web", "--id", "i"};
        if (option[0] != "--port") arguments.insert(arguments.end(), {"--port", port()});
        if (option[0] != "--host") arguments.insert(arguments.end(), {"--host", "h"});
        arguments.insert(arguments.end(), option.begin(), option.end());
        arguments.insert(arguments.end(), {"--", "touch", marker});
        auto const outcome = run(arguments);
        EXPECT_EQ(outcome.code, 2) << option[0] << ' ' << option[1];
        EXPECT_THAT(outcome.err, HasSubstr(option[1])) << "the value";
    }
    EXPECT_FALSE(std::filesystem::exists(marker));
}

}  // namespace
}  // namespace rollcall::test
