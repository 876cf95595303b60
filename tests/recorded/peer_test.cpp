#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/golden_state.hpp"
#include "support/recorded_peer.hpp"

/// Whether the player of the recorded programs leaves in Redis what they did, and says what they
/// said: it stands for them wherever ours meet them.
namespace rollcall::test {
namespace {

class RecordedPeerTest : public testing::Test {
protected:
    using Play = std::function<void(RecordedPeer&)>;

    /// Plays a step on the state that it met; every difference from what was recorded.
    std::vector<std::string> differences(std::string const& file, std::string const& name,
                                         Play const& play, golden::Ages const& ages = {},
                                         std::vector<std::string> const& expired = {},
                                         int lease = 90) {
        auto const recording = golden::load_recording(file);
        std::size_t index = 0;
        while (recording.steps.at(index).name != name) ++index;
        bool const cosky = file.starts_with("cosky");
        auto state = place(recording.before(index), ages, golden::redis_time(redis_));
        for (auto const& key : expired) state.erase(key);
        load(redis_, state);
        auto const space = cosky ? golden::recorded_namespace : golden::recorded_prefix;
        auto const peer = make_recorded_peer(cosky ? "cosky" : "streaming",
                                             {.socket = server_.socket(),
                                              .space = std::string{space},
                                              .lease = std::chrono::seconds{lease}});
        listener_.drain();
        golden::Expectation expected;
        expected.keys = advance(state, recording, index);
        expected.messages = recording.steps[index].messages;
        golden::Window window;
        window.from = golden::redis_time(redis_);
        play(*peer);
        window.until = golden::redis_time(redis_);
        golden::Actual actual{golden::read(redis_), {}};
        for (auto& message : listener_.drain()) {
            actual.messages.push_back({std::move(message.channel), std::move(message.payload)});
        }
        return compare(expected, actual, window);
    }

    static PeerInstance java(std::vector<std::pair<std::string, std::string>> metadata) {
        return {"orders", "o-1", "10.0.0.5", 8080, 3, std::move(metadata)};
    }
    static PeerInstance cosky(std::vector<std::pair<std::string, std::string>> metadata) {
        return {"order", "order@http#10.0.1.5#8080", "10.0.1.5", 8080, 1, std::move(metadata)};
    }

    RedisServer server_;
    RedisClient redis_{server_};
    Listener listener_{server_};
};

using testing::IsEmpty;

TEST_F(RecordedPeerTest, TheJavaModuleRegisters) {
    auto const enter = [](RecordedPeer& peer) { peer.enter(java({{"region", "us"}})); };
    EXPECT_THAT(differences("streaming-register.txt", "register o-1", enter), IsEmpty());
    EXPECT_THAT(differences("streaming-register.txt", "register o-1 again", enter), IsEmpty());
}

TEST_F(RecordedPeerTest, TheJavaModuleRenews) {
    auto const renew = [](RecordedPeer& peer) {
        EXPECT_EQ(peer.renew(java({{"a", "b"}})), RecordedPeer::Renewal::alive);
    };
    EXPECT_THAT(
        differences("streaming-heartbeat.txt", "heartbeat, fixed metrics, after 3.2 s", renew),
        IsEmpty());
}

TEST_F(RecordedPeerTest, TheJavaModuleDoesNotMindThatItsInstanceIsGone) {
    auto const renew = [](RecordedPeer& peer) {
        auto ghost = java({{"a", "b"}});
        ghost.id = "ghost";
        EXPECT_EQ(peer.renew(ghost), RecordedPeer::Renewal::gone);
        ghost.host = "h";
        ghost.weight = 1;
        ghost.port = 1;
        peer.describe(ghost);
    };
    EXPECT_THAT(differences("streaming-register.txt", "heartbeat of an unknown instance", renew),
                IsEmpty());
}

TEST_F(RecordedPeerTest, TheJavaModuleDescribesAndDeregisters) {
    auto const changed = java({{"region", "eu"}, {"url", "http://x"}});
    auto const describe = [&](RecordedPeer& peer) { peer.describe(changed); };
    auto const leave = [&](RecordedPeer& peer) { peer.leave(changed); };
    EXPECT_THAT(differences("streaming-register.txt", "heartbeat with changed metadata", describe),
                IsEmpty());
    EXPECT_THAT(differences("streaming-register.txt", "deregister o-1", leave), IsEmpty());
    EXPECT_THAT(differences("streaming-register.txt", "deregister o-1 again", leave), IsEmpty());
}

TEST_F(RecordedPeerTest, TheJavaModuleCleansUpByItsClock) {
    golden::Ages old;
    old.newest = 10'000;
    EXPECT_THAT(differences(
                    "streaming-provider-cleanup.txt", "(wait for the periodic cleanup)",
                    [](RecordedPeer& peer) { peer.clean(); }, old,
                    {"redis_streaming_registry:services:orders:instance:o-1"}, 2),
                IsEmpty());
}

TEST_F(RecordedPeerTest, CoskyRegistersAndDeregisters) {
    auto const instance = cosky({{"version", "1.0"}, {"zone", "az-1"}});
    auto const enter = [&](RecordedPeer& peer) { peer.enter(instance); };
    auto const leave = [&](RecordedPeer& peer) { peer.leave(instance); };
    for (auto const* step : {"register ephemeral, new service", "register ephemeral again",
                             "register over a renewed instance keeps the system field"}) {
        EXPECT_THAT(differences("cosky-register.txt", step, enter, {}, {}, 60), IsEmpty()) << step;
    }
    EXPECT_THAT(differences("cosky-register.txt", "deregister ephemeral", leave), IsEmpty());
    EXPECT_THAT(differences("cosky-register.txt", "deregister again", leave), IsEmpty());
}

TEST_F(RecordedPeerTest, CoskyRenewsAndRegistersAgain) {
    auto const instance = cosky({{"version", "1.0"}, {"zone", "az-1"}});
    auto const renew = [&](RecordedPeer& peer) {
        EXPECT_EQ(peer.renew(instance), RecordedPeer::Renewal::alive);
    };
    auto const again = [&](RecordedPeer& peer) {
        EXPECT_EQ(peer.renew(instance), RecordedPeer::Renewal::registered_again);
    };
    for (auto const* step :
         {"renew, second (inside the throttle window)", "renew, window exceeded"}) {
        EXPECT_THAT(differences("cosky-register.txt", step, renew, {}, {}, 60), IsEmpty()) << step;
    }
    EXPECT_THAT(differences("cosky-register.txt", "renew of a missing hash re-registers", again, {},
                            {}, 60),
                IsEmpty());
}

TEST_F(RecordedPeerTest, CoskyDescribes) {
    auto const describe = [](RecordedPeer& peer) { peer.describe(cosky({{"k", "v"}})); };
    EXPECT_THAT(differences("cosky-register.txt", "set_metadata one pair (replaces all)", describe),
                IsEmpty());
}

TEST_F(RecordedPeerTest, CoskyCleansUpWhileItReads) {
    EXPECT_THAT(differences("cosky-expiry.txt", "get_instances cleans up",
                            [](RecordedPeer& peer) { peer.clean(); }),
                IsEmpty());
}

TEST_F(RecordedPeerTest, KnowsScriptsAfterTheyAreGone) {
    for (auto const* layout : {"streaming", "cosky"}) {
        auto const peer = make_recorded_peer(layout, {.socket = server_.socket(), .space = "x"});
        auto const instance = java({{"a", "b"}});
        peer->enter(instance);
        redis_.must({"SCRIPT", "FLUSH"});
        EXPECT_EQ(peer->renew(instance), RecordedPeer::Renewal::alive) << layout;
    }
}

TEST(Filling, DoesNotLookAtWhatItFilledIn) {
    Filling filling;
    filling.text("ab", "cab").text("c", "d").argument("all", "ab");
    EXPECT_THAT(filling.of({"abc", "all", "all ab"}),
                testing::ElementsAre("cabd", "ab", "all cab"));
}

}  // namespace
}  // namespace rollcall::test
