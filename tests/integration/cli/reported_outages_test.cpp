// Outages that users of other registries reported, to processes as they are run.

#include <boost/json/parse.hpp>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "run_fixture.hpp"

namespace rollcall::test {
namespace {

using namespace std::chrono_literals;

class ReportedOutage : public RunTest {
protected:
    /// `event id reason` of each line that `watch` has printed.
    static std::vector<std::string> events(Program const& watcher) {
        std::vector<std::string> result;
        std::istringstream lines{watcher.out()};
        for (std::string line; std::getline(lines, line) && !lines.eof();) {
            auto const object = boost::json::parse(line).as_object();
            std::string event{object.at("event").as_string()};
            if (auto const* const instance = object.if_contains("instance")) {
                event += ' ' + std::string{instance->at("id").as_string()};
            }
            if (object.at("reason").is_string()) {
                event += ' ' + std::string{object.at("reason").as_string()};
            }
            result.push_back(std::move(event));
        }
        return result;
    }
    static bool comes(Program const& watcher, std::vector<std::string> const& expected) {
        return eventually([&] { return events(watcher) == expected; }, 10s);
    }
    Program watcher() { return start({"watch", "web", "--output", "json", "--lease", lease_}); }

    void set_clocks_ahead(std::chrono::seconds time) {
        auto const next = home() / "next";
        std::ofstream{next} << time.count();
        std::filesystem::rename(next, home() / "ahead");
    }
    void have_jumping_clocks() {
        set_clocks_ahead(0s);
        environment()["LD_PRELOAD"] = ROLLCALL_JUMPING_CLOCK;
        environment()["ROLLCALL_CLOCK_AHEAD"] = (home() / "ahead").string();
        environment()["ASAN_OPTIONS"] = "verify_asan_link_order=0";
    }
    double heard_at(std::string const& id) {
        auto const score =
            redis().must({"ZSCORE", "redis_streaming_registry:services:web:heartbeats", id});
        return score.text.empty() ? 0 : std::stod(score.text);
    }
};

TEST_F(ReportedOutage, AKilledOwnerLeavesWithItsLease) {
    lease_ = "1s";
    auto owner = supervise({}, {});
    ASSERT_TRUE(listed());
    auto const reader = watcher();
    ASSERT_TRUE(comes(reader, {"current web-one"}));
    owner.signal(SIGKILL);
    owner.wait();
    EXPECT_TRUE(comes(reader, {"current web-one", "removed web-one expired"}));
}

TEST_F(ReportedOutage, AnOwnerWhoseConnectionIsNeverClosedLeavesWithItsLease) {
    lease_ = "1s";
    auto const owner = supervise({}, {});
    ASSERT_TRUE(listed());
    auto const reader = watcher();
    ASSERT_TRUE(comes(reader, {"current web-one"}));
    owner.signal(SIGSTOP);  // As by a loss of power: nobody closes anything.
    EXPECT_TRUE(comes(reader, {"current web-one", "removed web-one expired"}));
    owner.signal(SIGCONT);
    EXPECT_TRUE(comes(reader, {"current web-one", "removed web-one expired", "added web-one"}))
        << "it lives after all";
}

TEST_F(ReportedOutage, AJumpOfTheClocksOfTheDayEndsNoLease) {
    have_jumping_clocks();
    auto const owner = supervise({}, {});
    ASSERT_TRUE(listed());
    auto const reader = watcher();
    ASSERT_TRUE(comes(reader, {"current web-one"}));
    for (auto const jump : {std::chrono::seconds{24h}, std::chrono::seconds{-24h}, 0s}) {
        set_clocks_ahead(jump);
        auto const before = heard_at("web-one");
        // For longer than a lease.
        EXPECT_TRUE(eventually([&] { return heard_at("web-one") >= before + 4'000; }, 20s))
            << "renewed by Redis' clock";
        EXPECT_EQ(events(reader), (std::vector<std::string>{"current web-one"})) << jump.count();
        EXPECT_EQ(count("web"), 1u) << "also for who begins to look only now";
    }
}

}  // namespace
}  // namespace rollcall::test
