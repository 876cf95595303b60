// `rollcall run`: stopped commands, lost terminals, and whole process groups.

#include <csignal>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <stdlib.h>
#include <unistd.h>

#include "run_fixture.hpp"

namespace rollcall::test {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

using RunSignalsTest = RunTest;

/// The number behind `word` among the lines that the child printed; 0 until it is there.
pid_t told(Program const& program, std::string const& word) {
    auto const out = program.out();
    auto const at = out.find(word + " ");
    if (at == std::string::npos || out.find('\n', at) == std::string::npos) return 0;
    return std::atoi(out.c_str() + at + word.size() + 1);
}

TEST_F(RunSignalsTest, AStoppedCommandIsToldOfAndHearsOfTheEnd) {
    auto program = supervise({}, {"code=3"});
    ASSERT_TRUE(listed());
    ::kill(child_of(program), SIGSTOP);
    EXPECT_TRUE(
        eventually([&] { return program.err().find("stopped by SIGSTOP") != std::string::npos; }));
    program.signal(SIGTERM);
    auto const outcome = program.wait(6s);
    EXPECT_EQ(outcome.code, 3);
    EXPECT_THAT(outcome.out, HasSubstr("signal 15"));
}

TEST_F(RunSignalsTest, SuspendingBothIsNothingToTellOf) {
    lease_ = "60s";
    auto program = supervise({}, {});
    ASSERT_TRUE(listed());
    auto const command = child_of(program);
    program.signal(SIGTSTP);
    ASSERT_TRUE(
        eventually([&] { return state_of(command) == 'T' && state_of(program.pid()) == 'T'; }));
    program.signal(SIGCONT);
    ASSERT_TRUE(eventually([&] { return state_of(command) != 'T'; }));
    program.signal(SIGTERM);
    EXPECT_EQ(program.wait().err.find("stopped"), std::string::npos);
}

TEST_F(RunSignalsTest, AHangUpReachesTheWholeGroup) {
    auto terminal = ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    ASSERT_TRUE(terminal >= 0 && ::grantpt(terminal) == 0 && ::unlockpt(terminal) == 0);
    auto at_terminal = supervised_options({}, {"grandchild"});
    at_terminal.terminal = ::ptsname(terminal);
    at_terminal.behind_leader = true;
    Program program{at_terminal};
    ASSERT_TRUE(listed());
    auto const grandchild = told(program, "grandchild");
    ASSERT_GT(grandchild, 0);
    ::close(terminal);
    EXPECT_TRUE(eventually([&] { return program.out().find("signal 1\n") != std::string::npos; }));
    // Its parent has not asked for how it ended.
    EXPECT_TRUE(eventually([&] { return state_of(grandchild) == 'Z'; }));
}

}  // namespace
}  // namespace rollcall::test
