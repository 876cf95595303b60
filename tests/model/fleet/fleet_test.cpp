#include "model/fleet/fleet.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <iostream>

namespace rollcall::test::fleet {
namespace {

using testing::HasSubstr;

std::string name_of(testing::TestParamInfo<Layout> const& tested) {
    return tested.param == Layout::cosky ? "Cosky" : "Streaming";
}

class FleetTest : public testing::TestWithParam<Layout> {};

TEST_P(FleetTest, TheSameSeedLeadsToTheSameTrace) {
    auto const scene = make_scene(7, GetParam());
    auto const first = run(scene, true);
    EXPECT_EQ(first.wrong, "");
    EXPECT_GT(first.trace.size(), 5'000U);
    EXPECT_EQ(first.trace, run(scene, true).trace);
    EXPECT_NE(first.trace, run(make_scene(8, GetParam()), true).trace);
}

TEST_P(FleetTest, WatchingChangesNothing) {
    auto const scene = make_scene(9, GetParam());
    EXPECT_EQ(run(scene, true).events, run(scene, false).events);
}

INSTANTIATE_TEST_SUITE_P(All, FleetTest, testing::Values(Layout::streaming, Layout::cosky),
                         name_of);

/// What the simulation says of owners that are broken on purpose, and to how little it comes down.
class BrokenOwnerTest : public testing::TestWithParam<Layout> {
protected:
    static constexpr std::uint64_t most_seeds = 20;
    static constexpr std::size_t most_steps = 4;

    std::string caught(Defect defect) const {
        for (std::uint64_t seed = 1; seed <= most_seeds; ++seed) {
            auto scene = make_scene(seed, GetParam());
            scene.defect = defect;
            if (!run(scene).wrong.empty()) return caught(scene);
        }
        return {};
    }

    static std::string caught(Scene const& scene) {
        auto const shrunk = shrink(scene);
        std::cout << shrunk.report.wrong << ", by\n";
        for (auto const& step : shrunk.scene.steps) std::cout << to_string(step) << '\n';
        EXPECT_LE(shrunk.scene.steps.size(), most_steps) << "of " << scene.steps.size();
        EXPECT_THAT(shrunk.report.trace, HasSubstr("WRONG: " + shrunk.report.wrong));
        return shrunk.report.wrong;
    }
};

TEST_P(BrokenOwnerTest, RegistersAgainWhatWasReleased) {
    EXPECT_THAT(caught(Defect::registers_released), HasSubstr("after its release"));
}

TEST_P(BrokenOwnerTest, ALateAnswerRegistersAgain) {
    auto scene = make_scene(1, GetParam());
    scene.defect = Defect::late_answer;
    scene.steps = {{.at = seconds{20}, .act = Act::release},
                   {.at = seconds{21}, .act = Act::block, .lasts = seconds{6}},
                   {.at = milliseconds{21'500}, .act = Act::announce},
                   {.at = seconds{29}, .act = Act::release}};
    EXPECT_THAT(caught(scene), HasSubstr("after its release"));
}

TEST_P(BrokenOwnerTest, NoReassertionAfterAChangeOfTheGeneration) {
    EXPECT_THAT(caught(Defect::no_reassertion), HasSubstr("announced, and not in Redis"));
}

TEST_P(BrokenOwnerTest, RemovalIsNotToldFromLoss) {
    EXPECT_THAT(caught(Defect::any_generation),
                HasSubstr("told as removed, and nobody removed it"));
}

INSTANTIATE_TEST_SUITE_P(All, BrokenOwnerTest, testing::Values(Layout::streaming, Layout::cosky),
                         name_of);

}  // namespace
}  // namespace rollcall::test::fleet
