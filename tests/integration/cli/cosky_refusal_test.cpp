// The layout of CoSky where Redis refuses or somebody interferes.

#include <csignal>
#include <gmock/gmock.h>

#include "program.hpp"

namespace rollcall::test {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

std::string const ns = "cosky-{default}";

class CoskyRefusal : public CliTest {
protected:
    CoskyRefusal() { environment()["ROLLCALL_LAYOUT"] = "cosky"; }

    static std::string id(std::string const& port = "80") { return "web@http#10.0.0.1#" + port; }
    static std::string key(std::string const& port = "80") { return ns + ":svc_itc:" + id(port); }
    Outcome add() {
        return run({"register", "--service", "web", "--host", "10.0.0.1", "--port", "80",
                    "--metadata", "zone=b", "--output", "json"});
    }
    /// `run` with a command that serves `port`, when it is registered.
    Program supervise(std::string const& port, Arguments const& further = {}) {
        Arguments arguments{"run", "--service", "web", "--host",   "10.0.0.1", "--port",
                            port,  "--lease",   "3s",  "--settle", "0",        "--start-timeout",
                            "0"};
        arguments.insert(arguments.end(), further.begin(), further.end());
        for (auto const& word : child({"port=" + port})) arguments.push_back(word);
        auto program = start(arguments);
        EXPECT_TRUE(eventually([&] { return count("web") == 1; }, 10s)) << program.err();
        return program;
    }
    static bool says(Program const& program, std::string const& text) {
        return eventually([&] { return program.err().find(text) != std::string::npos; }, 10s);
    }
    bool has_lease(std::string const& port) {
        return eventually([&] { return redis().must({"TTL", key(port)}).integer > 0; }, 10s);
    }
};

TEST_F(CoskyRefusal, OfHeartbeatsIsToldWithItsReason) {
    EXPECT_EQ(add().code, 0);
    redis().must({"CONFIG", "SET", "min-replicas-to-write", "1"});
    Arguments const beat{"heartbeat", "--service", "web", "--id", id(), "--output", "json"};
    auto const unavailable = run(beat);
    EXPECT_EQ(unavailable.code, 4);
    EXPECT_THAT(unavailable.err, HasSubstr("NOREPLICAS"));
    redis().must({"CONFIG", "SET", "min-replicas-to-write", "0"});

    redis().must({"SET", key(), "text"});
    auto const other_type = run(beat);
    EXPECT_EQ(other_type.code, 1);
    EXPECT_THAT(other_type.out, HasSubstr("failed"));
    EXPECT_THAT(other_type.err, HasSubstr("has another type"));
}

TEST_F(CoskyRefusal, OfRenewalsIsTakenForWhatPasses) {
    auto program = supervise(std::to_string(free_port()));
    redis().must({"CONFIG", "SET", "min-replicas-to-write", "1"});
    EXPECT_TRUE(says(program, "NOREPLICAS")) << program.err();
    redis().must({"CONFIG", "SET", "min-replicas-to-write", "0"});
    EXPECT_TRUE(says(program, " again")) << program.err();
    program.signal(SIGTERM);
    program.wait();
}

TEST_F(CoskyRefusal, RunTakesBackTheLeaseThatSomebodyTook) {
    auto const port = std::to_string(free_port());
    auto program = supervise(port);
    must({"register", "--service", "web", "--host", "10.0.0.1", "--port", port, "--persistent",
          "--weight", "9"});
    EXPECT_TRUE(has_lease(port)) << program.err();
    EXPECT_EQ(redis().must({"HGET", key(port), "ephemeral"}).text, "true");
    EXPECT_TRUE(says(program, "somebody took the lease of web/" + id(port)));
    redis().must({"PERSIST", key(port)});
    EXPECT_TRUE(has_lease(port)) << program.err();
    program.signal(SIGTERM);
    program.wait();
    EXPECT_EQ(count("web"), 0u);
}

TEST_F(CoskyRefusal, RunLeavesAPersistentInstanceAsItIs) {
    auto const port = std::to_string(free_port());
    auto program = supervise(port, {"--persistent"});
    // Somebody took it off the list: it is brought back.
    redis().must({"SREM", ns + ":svc_itc_idx:web", id(port)});
    EXPECT_TRUE(eventually([&] { return count("web") == 1; }, 10s)) << program.err();
    EXPECT_EQ(redis().must({"TTL", key(port)}).integer, -1);
    EXPECT_EQ(program.err().find("somebody took the lease"), std::string::npos);
    program.signal(SIGTERM);
    program.wait();
}

}  // namespace
}  // namespace rollcall::test
