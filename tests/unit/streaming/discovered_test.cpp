#include "streaming/discovered.hpp"

#include <gtest/gtest.h>

namespace rollcall::streaming {
namespace {

ServiceInstance one(std::string id, bool healthy = true) {
    ServiceInstance result;
    result.instance_id = std::move(id);
    result.healthy = healthy;
    return result;
}

TEST(Discovered, IsWhatTheLastListHad) {
    Discovered found;
    EXPECT_EQ(found.count({}), 0u);
    EXPECT_EQ(found.healthy("web", "a"), std::nullopt);
    found.replace("web", {one("b", false), one("a")});
    found.replace("db", {one("a", false)});
    EXPECT_EQ(found.count({}), 3u);
    EXPECT_EQ(found.healthy("web", "a"), true);
    EXPECT_EQ(found.healthy("web", "b"), false);
    EXPECT_EQ(found.healthy("db", "a"), false) << "ids are those of a service";
    found.replace("web", {one("b")});
    EXPECT_EQ(found.healthy("web", "a"), std::nullopt) << "it has left the list";
    EXPECT_EQ(found.healthy("web", "b"), true);
    EXPECT_EQ(found.count({}), 2u);
    EXPECT_EQ(found.count({"web", "unknown"}), 1u);
    found.replace("db", {});
    EXPECT_EQ(found.services(), std::vector<std::string>{"web"});
}

TEST(Discovered, PartsOfAListTakeNobodyAway) {
    Discovered found;
    found.merge("web", {});
    EXPECT_TRUE(found.services().empty());
    found.merge("web", {one("b")});
    found.merge("web", {one("c"), one("a"), one("b", false)});
    EXPECT_EQ(found.count({}), 3u);
    for (auto const* const id : {"a", "c"}) EXPECT_EQ(found.healthy("web", id), true) << id;
    EXPECT_EQ(found.healthy("web", "b"), false);
}

TEST(Discovered, ForgetsWhatWasNotListedTheLongest) {
    Discovered found{3};
    found.replace("a", {one("1")});
    found.replace("b", {one("1")});
    found.replace("c", {one("1")});
    found.replace("a", {one("1")});
    found.merge("d", {one("1")});
    EXPECT_EQ(found.services(), (std::vector<std::string>{"a", "c", "d"}));
    found.replace("big", {one("1"), one("2"), one("3"), one("4")});
    EXPECT_EQ(found.services(), std::vector<std::string>{"big"}) << "the last stays whole";
    EXPECT_EQ(found.count({}), 4u);
}

}  // namespace
}  // namespace rollcall::streaming
