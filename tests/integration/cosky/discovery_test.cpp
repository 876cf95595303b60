#include <gmock/gmock.h>

#include "integration/cosky/fixture.hpp"
#include "support/round_trips.hpp"

namespace rollcall::cosky::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class Discovery : public CoskyTest {
protected:
    static std::vector<std::string> ids(DiscoveredInstances const& found) {
        std::vector<std::string> result;
        for (auto const& one : found) result.push_back(one.instance.instance_id);
        return result;
    }
    std::string key(std::string const& of) { return DiscoveryKeyGenerator::instance_key(ns, of); }
    /// Listed with any Hash, as a peer might have left it.
    void store(std::string const& service, std::string const& of,
               std::vector<std::string> const& fields) {
        redis().must({"SADD", DiscoveryKeyGenerator::instance_idx_key(ns, service), of});
        if (fields.empty()) return;
        std::vector<std::string> command{"HSET", key(of)};
        command.insert(command.end(), fields.begin(), fields.end());
        redis().must(command);
    }

    RedisServiceRegistry registry{client};
    RedisServiceDiscovery discovery{client};
    std::string const a = id_of("order", 80);
    std::string const b = id_of("order", 81);
};

TEST_F(Discovery, FindsWhatIsRegistered) {
    auto rich = an_instance("order", 80);
    rich.weight = 3;
    rich.metadata = {{"zone", "a"}, {"", "empty"}};
    registry.register_instance(ns, rich);
    auto fixed = an_instance("order", 81);
    fixed.ephemeral = false;
    registry.register_instance(ns, fixed);
    registry.set_service(ns, "web");
    EXPECT_THAT(discovery.services(ns), ElementsAre("order", "web"));

    auto const now = redis_seconds();
    auto const found = discovery.instances(ns, "order");
    ASSERT_THAT(ids(found), ElementsAre(a, b));
    rich.instance_id = a;
    fixed.instance_id = b;
    EXPECT_EQ(found[0].instance, rich);
    EXPECT_EQ(found[1].instance, fixed);
    EXPECT_NEAR(static_cast<double>(found[0].ttl_at), static_cast<double>(now + 60), 1);
    EXPECT_EQ(found[1].ttl_at, TTL_AT_FOREVER);
    EXPECT_TRUE(found[0].state.lease_until);
    EXPECT_FALSE(found[1].state.lease_until);
    EXPECT_THAT(discovery.instances(ns, "web"), IsEmpty());
    EXPECT_THAT(discovery.instances(ns, "nobody"), IsEmpty());

    EXPECT_EQ(discovery.instance(ns, "order", a)->instance, rich);
    EXPECT_FALSE(discovery.instance(ns, "web", a)) << "not listed there";
    EXPECT_NEAR(static_cast<double>(discovery.instance_ttl(ns, "order", a)),
                static_cast<double>(now + 60), 1);
    EXPECT_EQ(discovery.instance_ttl(ns, "order", b), -1);
    EXPECT_EQ(discovery.instance_ttl(ns, "order", "order@http#h#9"), -2);
}

TEST_F(Discovery, TwoRoundTripsWhateverTheNumber) {
    for (int i = 0; i < 300; ++i) registry.register_instance(ns, an_instance("order", 1'000 + i));
    rollcall::test::RoundTrips counted{server()};
    Client far{counted.url()};
    RedisServiceDiscovery discovering{far};
    discovering.services(ns);  // The connection.
    std::size_t found = 0;
    auto const ask = [&] { found = discovering.instances(ns, "order").size(); };
    auto const scripts_before = rollcall::test::command_stat(redis(), "evalsha", "calls");
    EXPECT_EQ(counted.of(ask), 2);
    EXPECT_EQ(found, 300u);
    EXPECT_EQ(rollcall::test::command_stat(redis(), "evalsha", "calls"), scripts_before)
        << "plain commands only";
}

TEST_F(Discovery, E1_AndE2_WhatExpiredIsCleanedUpAndAnnouncedByWhoReads) {
    registry.register_instance(ns, an_instance("order", 80));
    registry.register_instance(ns, an_instance("order", 81));
    redis().must({"PEXPIRE", key(a), "1"});
    ASSERT_TRUE(eventually([&] { return redis().must({"EXISTS", key(a)}).integer == 0; }));
    heard();
    EXPECT_THAT(ids(discovery.instances(ns, "order")), ElementsAre(b));
    EXPECT_THAT(heard(), ElementsAre("svc_itc:" + a + " ← expired"));
    EXPECT_THAT(ids(discovery.instances(ns, "order")), ElementsAre(b));
    EXPECT_THAT(heard(), IsEmpty());

    redis().must({"DEL", key(b)});
    EXPECT_FALSE(discovery.instance(ns, "order", b));
    EXPECT_THAT(heard(), ElementsAre("svc_itc:" + b + " ← expired"));
}

TEST_F(Discovery, Defect2_TheLastHalfSecondSpoilsNoRead) {
    registry.register_instance(ns, an_instance("order", 80));
    redis().must({"PEXPIRE", key(a), "450"});
    auto const now = redis_seconds();
    auto const found = discovery.instances(ns, "order");
    ASSERT_EQ(found.size(), 1u) << "E5";
    EXPECT_NEAR(static_cast<double>(found[0].ttl_at), static_cast<double>(now), 1);
    EXPECT_LE(*found[0].state.lease_until - std::chrono::steady_clock::now(), 450ms);
}

TEST_F(Discovery, OneOddInstanceSpoilsNoOther) {
    registry.register_instance(ns, an_instance("order", 80));
    store("order", "headless", {"__last_renew_pub_ttl_at", "5"});
    store("order", "odd-port",
          {"instanceId", "x", "serviceId", "order", "schema", "http", "host", "h", "port", "1.5",
           "weight", "1", "ephemeral", "true"});
    store("order", "stored-ttl",
          {"instanceId", "stored-ttl", "serviceId", "order", "schema", "http", "host", "h", "port",
           "1", "weight", "1", "ephemeral", "true", "ttl_at", "5", "unknown", "x"});
    store("order", "text", {});
    redis().must({"SET", key("text"), "no Hash"});
    EXPECT_THAT(ids(discovery.instances(ns, "order")), ElementsAre(a, "stored-ttl"));
    EXPECT_TRUE(log.has("left out headless"));
    EXPECT_TRUE(log.has("left out"));
    EXPECT_EQ(redis().must({"GET", key("text")}).text, "no Hash");
    EXPECT_FALSE(discovery.instance(ns, "order", "headless"));
}

TEST_F(Discovery, Defect24_ReadsWorkWhereNothingMayBeWritten) {
    registry.register_instance(ns, an_instance("order", 80));
    registry.register_instance(ns, an_instance("order", 81));
    redis().must({"DEL", key(b)});
    redis().must({"ACL", "SETUSER", "reader", "on", ">pw", "~*", "resetchannels", "+@read",
                  "+@connection", "+ping", "+time", "+hello"});
    Client poor{"unix://reader:pw@" + server().socket()};
    RedisServiceDiscovery reading{poor};
    heard();
    EXPECT_THAT(ids(reading.instances(ns, "order")), ElementsAre(a));
    EXPECT_FALSE(reading.instance(ns, "order", b));
    EXPECT_THAT(heard(), IsEmpty());
    EXPECT_EQ(redis().must({"SCARD", DiscoveryKeyGenerator::instance_idx_key(ns, "order")}).integer,
              2);
}

TEST_F(Discovery, TheTtlIsAnsweredFromListAndLeaseAlone) {
    store("order", "headless", {"__last_renew_pub_ttl_at", "5"});
    store("order", "without-lease",
          {"instanceId", "x", "serviceId", "order", "schema", "http", "host", "h", "port", "1",
           "weight", "1", "ephemeral", "true"});
    store("order", "stored-ttl",
          {"instanceId", "x", "serviceId", "order", "schema", "http", "host", "h", "port", "1",
           "weight", "1", "ephemeral", "false", "ttl_at", "5"});
    auto const ttl_at = [&](std::string const& id) {
        return discovery.instance_ttl(ns, "order", id);
    };
    EXPECT_EQ(ttl_at("headless"), TTL_AT_FOREVER);
    EXPECT_EQ(ttl_at("without-lease"), TTL_AT_FOREVER);
    EXPECT_EQ(ttl_at("stored-ttl"), TTL_AT_FOREVER);
    redis().must({"EXPIRE", key("headless"), "30"});
    EXPECT_NEAR(static_cast<double>(ttl_at("headless")), static_cast<double>(redis_seconds() + 30),
                1);
    redis().must({"DEL", key("headless")});
    heard();
    EXPECT_EQ(ttl_at("headless"), -2);
    EXPECT_THAT(heard(), ElementsAre("svc_itc:headless ← expired"));
    EXPECT_EQ(discovery.instance_ttl(ns, "web", "stored-ttl"), -2) << "not listed there";
    EXPECT_THROW(discovery.instance_ttl(ns, "order", ""), std::invalid_argument);
}

TEST_F(Discovery, ARefusedCleanUpStopsThoseOfItsNamespaceOnly) {
    redis().must({"ACL", "SETUSER", "half", "on", ">pw", "allkeys", "allchannels", "+@all"});
    Client half{"unix://half:pw@" + server().socket()};
    RedisServiceDiscovery reading{half};
    auto const refused = DiscoveryKeyGenerator::instance_idx_key("{closed}", "order");
    redis().must({"SADD", refused, a});
    redis().must({"ACL", "SETUSER", "half", "resetkeys", "~" + ns + "*", "%R~{closed}:*"});
    store("order", a, {});
    EXPECT_THAT(reading.instances("{closed}", "order"), IsEmpty());
    EXPECT_EQ(redis().must({"SCARD", refused}).integer, 1);
    EXPECT_THAT(reading.instances(ns, "order"), IsEmpty());
    EXPECT_THAT(heard(), ElementsAre("svc_itc:" + a + " ← expired"));
    // Not tried again for a minute.
    redis().must({"ACL", "SETUSER", "half", "allkeys"});
    EXPECT_THAT(reading.instances("{closed}", "order"), IsEmpty());
    EXPECT_EQ(redis().must({"SCARD", refused}).integer, 1);
}

TEST_F(Discovery, E14_ReadsWorkOnAReplica) {
    registry.register_instance(ns, an_instance("order", 80));
    registry.register_instance(ns, an_instance("order", 81));
    redis().must({"PEXPIRE", key(b), "300"});
    redis().must({"REPLICAOF", "127.0.0.1", "1"});  // Of nobody: it keeps what it has.
    EXPECT_THAT(ids(discovery.instances(ns, "order")), testing::Contains(a)) << "all alive";
    ASSERT_TRUE(eventually([&] { return redis().must({"EXISTS", key(b)}).integer == 0; }));
    EXPECT_THAT(ids(discovery.instances(ns, "order")), ElementsAre(a));
    EXPECT_TRUE(discovery.instance(ns, "order", a));
    EXPECT_FALSE(discovery.instance(ns, "order", b));
    EXPECT_EQ(discovery.instance_ttl(ns, "order", b), -2);
    EXPECT_EQ(RedisServiceStatistic{client}.instance_count(ns), 1);
    EXPECT_THAT(RedisServiceTopology{client}.topology(ns), IsEmpty());
    redis().must({"REPLICAOF", "NO", "ONE"});
    EXPECT_EQ(redis().must({"SCARD", DiscoveryKeyGenerator::instance_idx_key(ns, "order")}).integer,
              2);
}

TEST_F(Discovery, AFailureIsNoEmptyList) {
    redis().must({"SET", DiscoveryKeyGenerator::instance_idx_key(ns, "order"), "no set"});
    std::error_code error;
    EXPECT_THAT(discovery.instances(ns, "order", error), IsEmpty());
    EXPECT_EQ(error, errc::unexpected_reply);
    EXPECT_THROW(discovery.instances(ns, "order"), Error);
    EXPECT_THROW(discovery.instances("a:b", "order"), std::invalid_argument);
    EXPECT_THROW(discovery.instances(ns, " "), std::invalid_argument);
    EXPECT_THROW(discovery.instance(ns, "order", ""), std::invalid_argument);
}

TEST_F(Discovery, NamesOfPeersMayBeAskedFor) {
    store("a#b", "own-id",
          {"instanceId", "own-id", "serviceId", "a#b", "schema", "__", "host", "10.0.0.1", "port",
           "99999", "weight", "-1", "ephemeral", "false"});
    auto const found = discovery.instances(ns, "a#b");
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].instance.port, 99'999);
    EXPECT_TRUE(registry.deregister(ns, found[0].instance)) << "what is found can be removed";
}

TEST_F(Discovery, Defect47_Ipv6HasBracketsInIdAndUri) {
    auto six = an_instance("order", 80);
    six.host = "fe80::1";
    registry.register_instance(ns, six);
    auto const id = std::string{"order@http#[fe80::1]#80"};
    EXPECT_EQ(field(id, "host"), "[fe80::1]");
    auto const found = discovery.instances(ns, "order");
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].instance.host, "fe80::1");
    EXPECT_EQ(uri(found[0].instance), "http://[fe80::1]:80");
}

}  // namespace
}  // namespace rollcall::cosky::test
