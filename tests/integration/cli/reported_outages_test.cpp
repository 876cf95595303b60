// Outages that users of other registries reported, to processes as they are run.

#include <boost/json/parse.hpp>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "run_fixture.hpp"

namespace rollcall::test {
namespace {

using namespace std::chrono_literals;

class ReportedOutage : public RunTest, public testing::WithParamInterface<std::string_view> {
protected:
    ReportedOutage() {
        environment()["ROLLCALL_LAYOUT"] = GetParam();
        if (GetParam() == "cosky") id_ = "";
    }

    /// The owner, once it is listed; `id_` is its id then.
    Program owner() {
        auto program = supervise({}, {});
        EXPECT_TRUE(listed());
        auto const found = list("web");
        id_ = found.at(0).at("id").as_string();
        return program;
    }

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
    /// In milliseconds of Redis' clock, but for a constant.
    double renewed_at() {
        if (GetParam() == "cosky") {
            auto const time = redis().must({"TIME"});
            auto const left = redis().must({"PTTL", "cosky-{default}:svc_itc:" + id_}).integer;
            return 1e3 * std::stod(time.elements.at(0).text) + static_cast<double>(left);
        }
        auto const score =
            redis().must({"ZSCORE", "redis_streaming_registry:services:web:heartbeats", id_});
        return score.text.empty() ? 0 : std::stod(score.text);
    }
};

TEST_P(ReportedOutage, AKilledOwnerLeavesWithItsLease) {
    lease_ = "2s";
    auto killed = owner();
    auto const reader = watcher();
    ASSERT_TRUE(comes(reader, {"current " + id_}));
    killed.signal(SIGKILL);
    killed.wait();
    EXPECT_TRUE(comes(reader, {"current " + id_, "removed " + id_ + " expired"}));
}

TEST_P(ReportedOutage, AnOwnerWhoseConnectionIsNeverClosedLeavesWithItsLease) {
    lease_ = "2s";
    auto const stopped = owner();
    auto const reader = watcher();
    ASSERT_TRUE(comes(reader, {"current " + id_}));
    stopped.signal(SIGSTOP);  // As by a loss of power: nobody closes anything.
    EXPECT_TRUE(comes(reader, {"current " + id_, "removed " + id_ + " expired"}));
    stopped.signal(SIGCONT);
    EXPECT_TRUE(comes(reader, {"current " + id_, "removed " + id_ + " expired", "added " + id_}))
        << "it lives after all";
}

TEST_P(ReportedOutage, AJumpOfTheClocksOfTheDayEndsNoLease) {
    have_jumping_clocks();
    auto const running = owner();
    auto const reader = watcher();
    ASSERT_TRUE(comes(reader, {"current " + id_}));
    for (auto const jump : {std::chrono::seconds{24h}, std::chrono::seconds{-24h}, 0s}) {
        set_clocks_ahead(jump);
        auto const before = renewed_at();
        // For longer than a lease.
        EXPECT_TRUE(eventually([&] { return renewed_at() >= before + 4'000; }, 20s))
            << "renewed by Redis' clock";
        EXPECT_EQ(events(reader), (std::vector<std::string>{"current " + id_})) << jump.count();
        EXPECT_EQ(count("web"), 1u) << "also for who begins to look only now";
    }
}

INSTANTIATE_TEST_SUITE_P(Layouts, ReportedOutage, testing::Values("streaming", "cosky"),
                         [](auto const& of) { return std::string{of.param}; });

}  // namespace
}  // namespace rollcall::test
