#include <csignal>
#include <future>
#include <gtest/gtest.h>

#include "integration/redis/detour.hpp"
#include "integration/streaming/provider_fixture.hpp"

namespace rollcall::streaming::test {
namespace {

using rollcall::test::Detour;

/// Calls that meet on their way.
class RegistrationRace : public StreamingTest {
protected:
    void SetUp() override {
        StreamingTest::SetUp();
        slow.wait_until_ready(5s);
        provider.start();
        // Redis knows all scripts but that of a registration.
        provider.send_heartbeat(an_instance("orders", "another"));
        provider.deregister_instance(an_instance("orders", "another"));
    }

    static ServiceInstance with(std::string version) {
        auto result = an_instance("orders", "o-1");
        result.metadata = {{"v", std::move(version)}};
        return result;
    }
    std::string metadata() {
        return redis().must({"HGET", instance_key("orders", "o-1"), "metadata"}).text;
    }
    HeartbeatResult beat() { return provider.send_heartbeat(with("2")); }

    /// Calls `first`, and `second` when its first request, or a later one, is on its way.
    template <class First, class Second>
    void meet(First first, Second second, std::size_t request = 1) {
        auto const wanted = detour.seen() + request;
        auto calling = std::async(std::launch::async, first);
        ASSERT_TRUE(eventually([&] { return detour.seen() >= wanted; }));
        second();
        calling.get();
    }

    ClientOptions slow_options() {
        auto result = options();
        result.url = detour.url();
        result.request_timeout = 5s;
        return result;
    }
    static HeartbeatConfig every_time() {
        HeartbeatConfig result;
        result.heartbeat_interval = 0ms;
        return result;
    }

    Detour detour{server(), 60ms};
    Client slow{slow_options()};
    RedisServiceProvider provider{slow, {}, every_time()};
};

TEST_F(RegistrationRace, ALaterDeregistrationWins) {
    meet([&] { provider.register_instance(with("1")); },
         [&] { EXPECT_TRUE(provider.deregister_instance(with("1")).existed); });
    EXPECT_EQ(metadata(), "");
    EXPECT_EQ(beat(), HeartbeatResult::gone);
}

TEST_F(RegistrationRace, ANewRegistrationOutlivesThatOfABatch) {
    provider.register_instance(with("1"));
    redis().must({"DEL", instance_key("orders", "o-1")});
    redis().must({"SCRIPT", "FLUSH"});
    beat();
    redis().must({"DEL", instance_key("orders", "o-1")});
    redis().must({"SCRIPT", "FLUSH"});
    provider.send_heartbeat(an_instance("orders", "another"));
    provider.deregister_instance(an_instance("orders", "another"));
    // The batch has found it gone and registers it, with a script that Redis does not know.
    constexpr std::size_t registration = 2;
    meet([&] { beat(); },
         [&] {
             provider.deregister_instance(with("1"));
             provider.register_instance(with("2"));
         },
         registration);
    EXPECT_EQ(metadata(), R"({"v":"2"})");
    EXPECT_EQ(beat(), HeartbeatResult::alive);
}

TEST_F(RegistrationRace, AnUnansweredRegistrationIsWhatIsRegisteredAgain) {
    auto quick = options();
    quick.request_timeout = 200ms;
    Client hasty{quick};
    RedisServiceProvider here{hasty, {}, every_time()};
    here.start();
    here.register_instance(with("1"));
    std::error_code error;
    server().signal(SIGSTOP);
    here.register_instance(with("2"), error);
    server().signal(SIGCONT);
    EXPECT_EQ(error, errc::timeout);
    ASSERT_TRUE(eventually([&] { return metadata() == R"({"v":"2"})"; }));
    redis().must({"DEL", instance_key("orders", "o-1")});
    EXPECT_EQ(here.send_heartbeat(an_instance("orders", "o-1")), HeartbeatResult::reregistered);
    EXPECT_EQ(metadata(), R"({"v":"2"})");
}

TEST_F(RegistrationRace, ABatchWaitsForWhoRegistersAnew) {
    provider.register_instance(with("1"));
    redis().must({"DEL", instance_key("orders", "o-1")});
    redis().must({"SCRIPT", "FLUSH"});
    provider.send_heartbeat(an_instance("orders", "another"));
    redis().must({"DEL", instance_key("orders", "o-1")});
    HeartbeatResult beaten = HeartbeatResult::failed;
    meet([&] { provider.register_instance(with("2")); }, [&] { beaten = beat(); });
    EXPECT_EQ(metadata(), R"({"v":"2"})");
    EXPECT_TRUE(beaten == HeartbeatResult::reregistered || beaten == HeartbeatResult::alive);
}

}  // namespace
}  // namespace rollcall::streaming::test
