#include "integration/streaming/provider_fixture.hpp"
#include "support/round_trips.hpp"

#include "rollcall/registry.hpp"

namespace rollcall::streaming::test {
namespace {

using rollcall::test::RoundTrips;

/// A fleet of providers alone: nobody announces.
class EpochOfProviders : public ProviderTest {
protected:
    std::string epoch() {
        return redis().must({"GET", std::string{prefix} + ":rollcall:epoch"}).text;
    }
};

TEST_F(EpochOfProviders, IsWrittenWithTheFirstRegistrationAndCostsNoRoundTrip) {
    RoundTrips counted{server()};
    Client other{counted.url()};
    other.wait_until_ready(5s);
    RedisServiceProvider alone{other, {}, every_time()};
    alone.start();
    EXPECT_EQ(epoch(), "") << "who only starts does not write";
    // The script is not known yet: once by its SHA-1, once by its text.
    EXPECT_EQ(counted.of([&] { alone.register_instance(an_instance("web", "a")); }), 2);
    EXPECT_EQ(epoch().size(), 32u);
    EXPECT_EQ(counted.of([&] { alone.register_instance(an_instance("web", "b")); }), 1);
}

TEST_F(EpochOfProviders, AHeartbeatThatFindsItsInstanceGoneWritesItAnew) {
    auto const instance = an_instance("web", "a");
    provider.register_instance(instance);
    auto const before = epoch();
    redis().must({"FLUSHALL"});
    EXPECT_EQ(provider.send_heartbeat(instance), HeartbeatResult::reregistered);
    ASSERT_NE(epoch(), "");
    EXPECT_NE(epoch(), before);
}

TEST_F(EpochOfProviders, AHeartbeatOfTheNextConnectionWritesItAnew) {
    auto const instance = an_instance("web", "a");
    provider.register_instance(instance);
    redis().must({"DEL", std::string{prefix} + ":rollcall:epoch"});
    redis().must({"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"});
    EXPECT_TRUE(eventually([&] { return provider.send_heartbeat(instance), !epoch().empty(); }));
}

TEST_F(EpochOfProviders, GivesReadersProofOfAbsence) {
    provider.register_instance(an_instance("web", "a"));
    Registry const registry{client, streaming_layout()};
    auto const web = registry.service("web");
    ASSERT_EQ(web.instances().size(), 1u);
    // As nobody announces it: a reader has to find out.
    redis().must({"MULTI"});
    redis().must({"DEL", instance_key("web", "a")});
    redis().must({"ZREM", heartbeats_key("web"), "a"});
    redis().must({"PUBLISH", channel_of("web"), "not readable"});
    redis().must({"EXEC"});
    EXPECT_TRUE(eventually([&] { return web.instances().empty(); }))
        << "within one generation absence is removal";
}

TEST_F(EpochOfProviders, WhoMayNotWriteItRegistersAllTheSame) {
    redis().must({"ACL", "SETUSER", "ann", "on", ">pw", "resetkeys",
                  "~" + std::string{prefix} + ":services*", "&*", "+@all"});
    ClientOptions limited = options();
    limited.url = "unix://ann:pw@" + server().socket();
    Client other{limited};
    RedisServiceProvider alone{other, {}, every_time()};
    alone.start();
    for (auto const* const id : {"a", "b", "c"}) alone.register_instance(an_instance("web", id));
    EXPECT_EQ(alone.send_heartbeat(an_instance("web", "a")), HeartbeatResult::alive);
    EXPECT_EQ(log.count("writing the epoch"), 1u);
    EXPECT_EQ(epoch(), "");
}

}  // namespace
}  // namespace rollcall::streaming::test
