#include "redis/fence.hpp"

#include <gmock/gmock.h>
#include <string>

namespace rollcall::redis {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

TEST(Fence, IsOfTheLifeOfAServer) {
    Fence fence;
    fence.remember({"one", 7});
    fence.remember({"other", 7});
    fence.remember({"one", 9});
    EXPECT_THAT(fence.of("one"), ElementsAre(Fence::Ended{"one", 7}, Fence::Ended{"one", 9}));
    fence.settle({"one", 7});
    EXPECT_THAT(fence.of("one"), ElementsAre(Fence::Ended{"one", 9}));
    EXPECT_THAT(fence.of("other"), SizeIs(1)) << "an id of its own";
    EXPECT_THAT(fence.of("third"), IsEmpty());
}

TEST(Fence, OnlyOfWhatCanBeNamed) {
    Fence fence;
    fence.remember({"", 7});
    fence.remember({"one", 0});
    EXPECT_THAT(fence.of(""), IsEmpty()) << "ids begin anew with each life";
    EXPECT_THAT(fence.of("one"), IsEmpty());
}

TEST(Fence, IsBounded) {
    Fence fence;
    for (int i = 1; i <= 1'000; ++i) fence.remember({"one", i});
    EXPECT_LE(fence.of("one").size(), 64u);
    EXPECT_EQ(fence.of("one").back().client_id, 1'000);
}

}  // namespace
}  // namespace rollcall::redis
