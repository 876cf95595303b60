#include <cstdlib>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <iostream>

#include "model/feed/search.hpp"

/// Every interleaving of what owners, Redis, its connections and a `ServiceFeed` do, to a depth.
namespace rollcall::test::feed {
namespace {

using testing::HasSubstr;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__OPTIMIZE__)
constexpr std::size_t usual_states = 5'000;
constexpr std::size_t usual_walks = 500;
#else
constexpr std::size_t usual_states = 50'000;
constexpr std::size_t usual_walks = 10'000;
#endif

std::size_t number_from_environment(char const* name, std::size_t otherwise) {
    char const* text = std::getenv(name);
    return text && *text ? std::strtoull(text, nullptr, 10) : otherwise;
}

/// One fault each, and two steps of owners if nothing else is said.
std::vector<Scene> scenes_of(Layout layout) {
    std::vector<Scene> scenes;
    auto const add = [&](std::string name) -> Scene& {
        auto& scene = scenes.emplace_back();
        scene.name = std::move(name);
        scene.layout = layout;
        scene.registered = 1;
        scene.owners = 2;
        return scene;
    };
    std::vector<Step> const reconnected{
        {Act::cut}, {Act::connect}, {Act::subscribe}, {Act::deliver}, {Act::ask}};
    std::vector<Step> const suspect{{Act::flush},   {Act::deliver}, {Act::wait},    {Act::ask},
                                    {Act::look_up}, {Act::finish},  {Act::deliver}, {Act::arrive},
                                    {Act::ask},     {Act::look_up}, {Act::finish},  {Act::deliver},
                                    {Act::arrive}};
    add("OwnersComeAndGo").owners = 4;
    add("TheReaderStarts").registered = 0;
    add("ConnectionsBreak").cuts = 2;
    auto& resync = add("ConnectionsBreakDuringAResync");
    resync.prelude = reconnected;
    resync.cuts = resync.failures = 1;
    add("RedisLosesItsData").losses = 1;
    auto& unnoticed = add("RedisLosesItsDataUnnoticed");
    unnoticed.losses = 1;
    unnoticed.tracking = false;
    auto& lost = add("RedisLosesItsDataWithMessages");
    lost.losses = lost.cuts = 1;
    auto& suspects = add("ThereAreSuspects");
    if (layout == Layout::cosky) suspects.persistent = true;
    suspects.registered = 2;
    suspects.prelude = suspect;
    suspects.cuts = suspects.restarts = 1;
    add("RedisRestarts").restarts = 2;
    add("KeysGo").evictions = 1;
    if (layout == Layout::cosky) add("KeysAreOverwritten").evictions = 2;
    if (layout == Layout::streaming) {
        auto& phantoms = add("KeysLeavePhantoms");
        phantoms.evictions = 1;
        phantoms.phantoms = true;
    }
    auto& operators = add("OperatorsInterfere");
    operators.operators = operators.cuts = 1;
    add("ReadsFail").failures = 2;
    auto& queues = add("QueuesOverflow");
    queues.overflows = 2;
    queues.most_ids = 1;
    auto& late = add("MessagesComeLate");
    late.late_messages = true;
    late.cuts = 1;
    auto& fixed = add("OneHasNoLease");
    fixed.registered = 2;
    fixed.persistent = true;
    fixed.cuts = fixed.losses = 1;
    auto& three = add("ThereAreThree");
    three.instances = 3;
    three.registered = 2;
    three.cuts = three.losses = 1;
    auto& all = add("EverythingHappens");
    all.registered = 2;
    all.operators = all.cuts = all.overflows = all.losses = all.restarts = 1;
    all.evictions = all.failures = 1;
    return scenes;
}

std::vector<Scene> scenes() {
    auto all = scenes_of(Layout::streaming);
    for (auto& scene : scenes_of(Layout::cosky)) all.push_back(std::move(scene));
    return all;
}

std::string name_of(Scene const& scene) {
    return (scene.layout == Layout::cosky ? "Cosky" : "Streaming") + scene.name;
}

class FeedModelTest : public testing::TestWithParam<Scene> {};

TEST_P(FeedModelTest, EveryInterleavingEndsWell) {
    auto scene = GetParam();
    scene.states = number_from_environment("ROLLCALL_MODEL_STATES", usual_states);
    auto const report = search(scene);
    std::cout << report.states << " states, " << report.transitions << " transitions, ";
    if (report.exhausted) {
        std::cout << "all there are\n";
    } else {
        std::cout << "all within " << report.depth << " steps\n";
    }
    EXPECT_EQ(report.wrong, "") << report.trace;
    EXPECT_GE(report.states, scene.states) << "is anything allowed?";
}

INSTANTIATE_TEST_SUITE_P(All, FeedModelTest, testing::ValuesIn(scenes()),
                         [](auto const& tested) { return name_of(tested.param); });

/// Far from where every interleaving is visited.
class FeedModelWalkTest : public testing::TestWithParam<Layout> {};

TEST_P(FeedModelWalkTest, LongRandomWaysEndWell) {
    auto const walks = number_from_environment("ROLLCALL_MODEL_SEQUENCES", usual_walks);
    for (std::uint32_t seed = 1; seed <= 4; ++seed) {
        Scene scene;
        scene.layout = GetParam();
        scene.instances = seed < 3 ? 2 : 3;
        scene.registered = seed % 2;
        scene.owners = 8;
        scene.cuts = scene.failures = 2;
        scene.operators = scene.overflows = scene.losses = scene.restarts = scene.evictions = 1;
        scene.depth = 40 * seed;
        auto const report = wander(scene, walks, seed);
        std::cout << report.transitions << " steps on " << walks << " ways\n";
        ASSERT_EQ(report.wrong, "") << "seed " << seed << '\n' << report.trace;
    }
}

INSTANTIATE_TEST_SUITE_P(All, FeedModelWalkTest, testing::Values(Layout::streaming, Layout::cosky),
                         [](auto const& tested) {
                             return tested.param == Layout::cosky ? "Cosky" : "Streaming";
                         });

/// What the search says of a machine that is broken on purpose, where that can be seen.
class BrokenFeedTest : public testing::TestWithParam<Layout> {
protected:
    Scene broken(Defect defect) const {
        Scene scene;
        scene.layout = GetParam();
        scene.defect = defect;
        scene.registered = 1;
        scene.owners = 1;
        return scene;
    }

    static std::string caught(Scene const& scene) {
        auto const report = search(scene);
        std::cout << report.wrong << ", after " << report.states << " states\n";
        return report.wrong;
    }
};

TEST_P(BrokenFeedTest, NoResyncAfterAConfirmation) {
    auto scene = broken(Defect::no_resync);
    scene.cuts = 1;
    EXPECT_THAT(caught(scene), HasSubstr("its description is an old one"));
}

TEST_P(BrokenFeedTest, RemoveThenAdd) {
    EXPECT_THAT(caught(broken(Defect::remove_then_add)),
                HasSubstr("removed while its owner lives"));
}

TEST_P(BrokenFeedTest, ReadBeforeTheConfirmation) {
    auto scene = broken(Defect::read_too_early);
    scene.registered = 0;
    EXPECT_THAT(caught(scene), HasSubstr("hidden"));
}

TEST_P(BrokenFeedTest, AbsenceBelievedAcrossGenerations) {
    auto scene = broken(Defect::any_generation);
    scene.losses = 1;
    EXPECT_THAT(caught(scene), HasSubstr("removed while its owner lives"));
}

TEST_P(BrokenFeedTest, LeaseAndDescriptionInOne) {
    EXPECT_THAT(caught(broken(Defect::lease_in_content)),
                HasSubstr("told as updated, and nothing is new"));
}

INSTANTIATE_TEST_SUITE_P(All, BrokenFeedTest, testing::Values(Layout::streaming, Layout::cosky),
                         [](auto const& tested) {
                             return tested.param == Layout::cosky ? "Cosky" : "Streaming";
                         });

}  // namespace
}  // namespace rollcall::test::feed
