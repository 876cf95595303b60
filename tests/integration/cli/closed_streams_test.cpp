// Closed standard streams: what is printed goes nowhere, and into no file or socket of the program.

#include <fstream>
#include <gmock/gmock.h>

#include "program.hpp"

namespace rollcall::test {
namespace {

using namespace std::chrono_literals;

class ClosedStreamsTest : public CliTest {
protected:
    static std::string contents(std::filesystem::path const& file) {
        std::ifstream in{file, std::ios::binary};
        return {std::istreambuf_iterator<char>{in}, {}};
    }
};

TEST_F(ClosedStreamsTest, MessagesGoIntoNoFileOfOurs) {
    environment().erase("ROLLCALL_URL");
    auto closed = options({"serve", "--data", home() / "data", "--lease", "3s"});
    closed.closed = {0, 1, 2};
    Program program{closed};
    // It ends as with any output that cannot be written, after it has opened all it needs.
    EXPECT_EQ(program.wait(20s).code, 1);
    auto const holder = std::to_string(program.pid()) + "\n";
    EXPECT_EQ(contents(home() / "data" / "rollcall.lock"), holder);
    EXPECT_EQ(contents(home() / "rollcall" / "redis.sock.lock"), holder);
}

TEST_F(ClosedStreamsTest, AClosedOutputCannotBeWritten) {
    auto closed = options({"version"});
    closed.closed = {0, 1};
    auto const outcome = Program{closed}.wait();
    EXPECT_EQ(outcome.code, 1);
    EXPECT_EQ(outcome.err, "rollcall: cannot write the output: Bad file descriptor\n");
}

}  // namespace
}  // namespace rollcall::test
