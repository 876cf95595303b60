#include "integration/cosky/fixture.hpp"
#include "support/round_trips.hpp"

namespace rollcall::cosky::test {
namespace {

using rollcall::test::RoundTrips;

/// A fleet of registries that renew: nobody announces.
class EpochOfRegistries : public CoskyTest {
protected:
    std::string epoch(std::string const& of = ns) {
        return redis().must({"GET", of + ":rollcall:epoch"}).text;
    }

    RedisServiceRegistry registry{client};
};

TEST_F(EpochOfRegistries, IsWrittenWithTheFirstRegistrationAndCostsNoRoundTrip) {
    RoundTrips counted{server()};
    Client other{counted.url()};
    other.wait_until_ready(5s);
    RedisServiceRegistry alone{other};
    // The script is not known yet: once by its SHA-1, once by its text.
    EXPECT_EQ(counted.of([&] { alone.register_instance(ns, an_instance("web", 1)); }), 2);
    EXPECT_EQ(epoch().size(), 32u);
    EXPECT_EQ(counted.of([&] { alone.register_instance(ns, an_instance("web", 2)); }), 1);
}

TEST_F(EpochOfRegistries, EachNamespaceHasItsOwn) {
    registry.register_instance(ns, an_instance("web"));
    EXPECT_EQ(epoch("{other}"), "");
    registry.register_instance("{other}", an_instance("web"));
    EXPECT_EQ(epoch("{other}").size(), 32u);
    EXPECT_NE(epoch("{other}"), epoch());
}

TEST_F(EpochOfRegistries, ARenewalThatFindsItsInstanceGoneWritesItAnew) {
    registry.register_instance(ns, an_instance("web"));
    auto const before = epoch();
    redis().must({"FLUSHALL"});
    EXPECT_TRUE(registry.renew(ns, an_instance("web")));
    ASSERT_NE(epoch(), "");
    EXPECT_NE(epoch(), before);
}

TEST_F(EpochOfRegistries, RoundsOfRenewalsWriteItAnewAfterALoss) {
    RenewProperties often;
    often.initial_delay = 10ms;
    often.period = 200ms;
    often.sweep_period = 0ms;
    registry.register_instance(ns, an_instance("web"));
    registry.register_instance("{other}", an_instance("web"));
    RenewInstanceService renewals{registry, often};
    renewals.start();
    redis().must({"FLUSHALL"});
    EXPECT_TRUE(eventually([&] { return !epoch().empty() && !epoch("{other}").empty(); }));
}

TEST_F(EpochOfRegistries, WhoMayNotWriteItRegistersAllTheSame) {
    redis().must({"ACL", "SETUSER", "ann", "on", ">pw", "resetkeys", "~" + ns + ":svc*", "~" + ns,
                  "&*", "+@all"});
    ClientOptions limited = options();
    limited.url = "unix://ann:pw@" + server().socket();
    Client other{limited};
    RedisServiceRegistry alone{other};
    for (int port = 1; port <= 3; ++port) alone.register_instance(ns, an_instance("web", port));
    EXPECT_TRUE(alone.renew(ns, an_instance("web", 1)));
    EXPECT_EQ(log.count("writing the epoch"), 1u);
    EXPECT_EQ(epoch(), "");
}

}  // namespace
}  // namespace rollcall::cosky::test
