#pragma once

#include <string>

#include "integration/announce/fixture.hpp"
#include "integration/redis/detour.hpp"

/// What is announced over a bad line, in both layouts. Each layout's test program instantiates it.
namespace rollcall::test {

/// One connection holds back what was sent on it, and brings it late.
class StuckLineTest : public AnnouncerTest {
protected:
    static Metadata mark(std::string value) { return {{"mark", std::move(value)}}; }

    std::unique_ptr<Owner> far_owner() {
        auto by = owner(seldom, line.url());
        warm = announced(*by, instance(8081));  // Now Redis knows the scripts.
        warm.update_metadata(mark("warm"));
        EXPECT_TRUE(eventually([&] { return mark_of(*by, warm) == "warm"; }));
        return by;
    }
    std::string mark_of(Owner& by, Announcement const& announcement) {
        auto const stored = found(by, announcement.instance());
        auto const at = stored.metadata.find("mark");
        return at == stored.metadata.end() ? "" : at->second;
    }
    /// What was held has reached the server, if that still listens.
    bool pass_on() {
        line.let_go();
        return eventually([&] { return !line.holds(); });
    }

    Detour line{server, std::chrono::milliseconds{0}};
    Announcement warm;
};

TEST_P(StuckLineTest, ARegistrationThatComesLateDoesNotBringBackWhatWasReleased) {
    auto const by = far_owner();
    line.hold_from("stuck");
    auto wanted = instance();
    wanted.metadata = mark("stuck");
    auto me = announced(*by, wanted);
    ASSERT_TRUE(line.holds());
    me.release();
    EXPECT_FALSE(stored(me));
    ASSERT_TRUE(pass_on());
    EXPECT_FALSE(eventually([&] { return stored(me); }, std::chrono::milliseconds{300}));
}

TEST_P(StuckLineTest, AChangeThatComesLateDoesNotUndoALaterOne) {
    auto const by = far_owner();
    auto me = announced(*by, instance());
    line.hold_from("stuck");
    me.update_metadata(mark("stuck"));
    ASSERT_TRUE(eventually([&] { return line.holds() && mark_of(*by, me) == "stuck"; }));
    me.update_metadata(mark("later"));
    ASSERT_TRUE(eventually([&] { return mark_of(*by, me) == "later"; }));
    ASSERT_TRUE(pass_on());
    auto const undone = [&] { return mark_of(*by, me) != "later"; };
    EXPECT_FALSE(eventually(undone, std::chrono::milliseconds{300}));
}

TEST_P(StuckLineTest, WithoutTheRightToDropConnectionsAllElseGoesOn) {
    admin().must({"ACL", "SETUSER", "default", "-client|kill", "-info"});
    auto const by = far_owner();
    auto me = announced(*by, instance());
    line.hold_from("stuck");
    me.update_metadata(mark("stuck"));
    ASSERT_TRUE(eventually([&] { return line.holds() && mark_of(*by, me) == "stuck"; }));
    me.release();
    EXPECT_FALSE(stored(me));
    EXPECT_EQ(events->count("conflict"), 0u);
}

}  // namespace rollcall::test
