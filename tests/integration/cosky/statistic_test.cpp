// Statistic, topology and the list of namespaces.

#include <gmock/gmock.h>

#include "integration/cosky/fixture.hpp"
#include "support/round_trips.hpp"

namespace rollcall::cosky::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class Statistic : public CoskyTest {
protected:
    std::string key(std::string const& of) { return DiscoveryKeyGenerator::instance_key(ns, of); }
    RedisServiceRegistry registry{client};
    RedisServiceStatistic statistic{client};
};

TEST_F(Statistic, CountsWhatLives) {
    registry.register_instance(ns, an_instance("order", 80));
    registry.register_instance(ns, an_instance("order", 81));
    registry.register_instance(ns, an_instance("web", 82));
    redis().must({"DEL", key(id_of("order", 81))});
    heard();
    EXPECT_THAT(statistic.service_stats(ns),
                ElementsAre(ServiceStat{"order", 0}, ServiceStat{"web", 0}));
    statistic.stat_service(ns, "order");
    EXPECT_THAT(statistic.service_stats(ns),
                ElementsAre(ServiceStat{"order", 1}, ServiceStat{"web", 0}));
    EXPECT_THAT(heard(), ElementsAre("svc_itc:" + id_of("order", 81) + " ← expired"));
    statistic.stat_service(ns);
    EXPECT_THAT(statistic.service_stats(ns),
                ElementsAre(ServiceStat{"order", 1}, ServiceStat{"web", 1}));
    EXPECT_EQ(statistic.instance_count(ns), 2);
    EXPECT_EQ(statistic.count_service(ns), 2);
}

TEST_F(Statistic, Defect24_CountsWhereNothingMayBeWritten) {
    registry.register_instance(ns, an_instance("order", 80));
    registry.register_instance(ns, an_instance("web", 81));
    redis().must({"DEL", key(id_of("web", 81))});
    redis().must({"ACL", "SETUSER", "reader", "on", ">pw", "~*", "resetchannels", "+@read",
                  "+@connection", "+ping", "+time", "+hello"});
    Client poor{"unix://reader:pw@" + server().socket()};
    EXPECT_EQ(RedisServiceStatistic{poor}.instance_count(ns), 1);
    heard();
    EXPECT_EQ(statistic.instance_count(ns), 1);
    EXPECT_THAT(heard(), ElementsAre("svc_itc:" + id_of("web", 81) + " ← expired"));
}

TEST_F(Statistic, AMessageThatIsRefusedIsTold) {
    registry.register_instance(ns, an_instance("order", 80));
    redis().must({"DEL", key(id_of("order", 80))});
    redis().must({"ACL", "SETUSER", "mute", "on", ">pw", "~*", "resetchannels", "+@all"});
    LogBook told;
    ClientOptions mute;
    mute.url = "unix://mute:pw@" + server().socket();
    mute.log = told.callback();
    Client silent{mute};
    RedisServiceStatistic{silent}.stat_service(ns);
    EXPECT_THAT(statistic.service_stats(ns), ElementsAre(ServiceStat{"order", 0}));
    EXPECT_TRUE(told.has("done, but not announced"));
    EXPECT_FALSE(told.has("left out"));
}

TEST_F(Statistic, OneOddListSpoilsNoOthersCount) {
    registry.register_instance(ns, an_instance("order", 80));
    registry.set_service(ns, "alone");
    redis().must({"SET", DiscoveryKeyGenerator::instance_idx_key(ns, "alone"), "no set"});
    EXPECT_EQ(statistic.instance_count(ns), 1);
    EXPECT_EQ(log.count("left out alone"), 1u);
    statistic.stat_service(ns);
    EXPECT_THAT(statistic.service_stats(ns),
                ElementsAre(ServiceStat{"alone", 0}, ServiceStat{"order", 1}));
    LogBook told;
    auto fresh = options();
    fresh.log = told.callback();
    Client other{fresh};
    RedisServiceStatistic{other}.stat_service(ns, "alone");
    EXPECT_EQ(told.count("left out alone"), 1u);
    redis().must({"DEL", DiscoveryKeyGenerator::service_idx_key(ns)});
    redis().must({"SET", DiscoveryKeyGenerator::service_idx_key(ns), "no set"});
    std::error_code error;
    statistic.instance_count(ns, error);
    EXPECT_EQ(error, errc::unexpected_reply);
}

TEST_F(Statistic, Defect22_AServiceThatIsNotThereIsNotCounted) {
    statistic.stat_service(ns, "gone");
    EXPECT_THAT(statistic.service_stats(ns), IsEmpty());
}

TEST_F(Statistic, Defect54_ACountThatIsNoNumberIsLeftOut) {
    auto const stats = DiscoveryKeyGenerator::service_stat_key(ns);
    redis().must({"HSET", stats, "order", "3", "web", "many"});
    EXPECT_THAT(statistic.service_stats(ns), ElementsAre(ServiceStat{"order", 3}));
    EXPECT_TRUE(log.has("left out web"));
    redis().must({"DEL", stats});
    redis().must({"SET", stats, "x"});
    std::error_code error;
    EXPECT_THAT(statistic.service_stats(ns, error), IsEmpty());
    EXPECT_EQ(error, errc::unexpected_reply);
}

class ATopology : public CoskyTest {};

TEST_F(ATopology, RecordsWhoUsesWhom) {
    NamespacedContext const context;
    RedisServiceTopology gateway{client, context, {.consumer = "gateway"}};
    gateway.add_topology(ns, "order");
    gateway.add_topology("other-{x}", "stock");
    gateway.add_topology(ns, "gateway");
    RedisServiceTopology nobody{client};
    nobody.add_topology(ns, "order");
    EXPECT_EQ(nobody.topology(ns),
              (Topology{{"_Client_", {"order"}}, {"gateway", {"order", "other-{x}.stock"}}}));
    EXPECT_THAT(nobody.topology("other-{x}"), IsEmpty()) << "under the consumer's namespace";
    EXPECT_THROW((RedisServiceTopology{client, context, {.consumer = "a@b"}}),
                 std::invalid_argument);
}

TEST_F(ATopology, Defect28_OwnEdgesMayExpire) {
    auto const edges = DiscoveryKeyGenerator::topology_key(ns, "gateway");
    redis().must({"HSET", DiscoveryKeyGenerator::topology_idx_key(ns), "gateway", "5"});
    redis().must({"HSET", edges, "order", "5", "stock", "6"});
    RedisServiceTopology lasting{client, NamespacedContext{}, {.consumer = "gateway"}};
    lasting.add_topology(ns, "order");
    EXPECT_EQ(redis().must({"HGET", edges, "order"}).text, "5") << "the first time stays";
    RedisServiceTopology fleeting{
        client, NamespacedContext{}, {.consumer = "gateway", .expire_after = 60s}};
    fleeting.add_topology(ns, "order");
    EXPECT_EQ(fleeting.topology(ns), (Topology{{"gateway", {"order"}}}));
    EXPECT_THROW((RedisServiceTopology{client, NamespacedContext{}, {"gateway", 0s}}),
                 std::invalid_argument);
}

TEST_F(ATopology, AKeyOfAnotherTypeHidesNoOtherConsumer) {
    RedisServiceTopology gateway{client, NamespacedContext{}, {.consumer = "gateway"}};
    gateway.add_topology(ns, "order");
    redis().must({"HSET", DiscoveryKeyGenerator::topology_idx_key(ns), "odd", "5"});
    redis().must({"SET", DiscoveryKeyGenerator::topology_key(ns, "odd"), "text"});
    EXPECT_EQ(gateway.topology(ns), (Topology{{"gateway", {"order"}}}));
    EXPECT_TRUE(log.has("left out the consumer odd"));
}

TEST_F(ATopology, WhatIsRefusedLeavesNoConsumerWithoutProducers) {
    redis().must({"SET", DiscoveryKeyGenerator::topology_key(ns, "gateway"), "text"});
    RedisServiceTopology gateway{client, NamespacedContext{}, {.consumer = "gateway"}};
    std::error_code error;
    gateway.add_topology(ns, "order", error);
    EXPECT_EQ(error, errc::unexpected_reply);
    EXPECT_EQ(redis().must({"EXISTS", DiscoveryKeyGenerator::topology_idx_key(ns)}).integer, 0);
}

TEST_F(ATopology, Defect27_TheDefaultNamespaceHasAHashTag) {
    RedisServiceTopology nobody{client};
    nobody.add_topology(ns, "order");
    EXPECT_THAT(redis().must({"KEYS", "cosky:*"}).texts(), IsEmpty());
    NamespacedContext context;
    context.set_current("dev-{d}");
    RedisServiceTopology moved{client, context};
    moved.add_topology("dev-{d}", "order");
    EXPECT_EQ(moved.topology("dev-{d}"), (Topology{{"_Client_", {"order"}}}));
}

TEST_F(ATopology, Defect24_IsReadWhereNothingMayBeWrittenAndInTwoRoundTrips) {
    for (int i = 0; i < 100; ++i) {
        RedisServiceTopology consumer{
            client, NamespacedContext{}, {.consumer = "c" + std::to_string(i)}};
        consumer.add_topology(ns, "order");
    }
    redis().must({"ACL", "SETUSER", "reader", "on", ">pw", "~*", "+@read", "+@connection", "+ping",
                  "+hello"});
    Client poor{"unix://reader:pw@" + server().socket()};
    EXPECT_EQ(RedisServiceTopology{poor}.topology(ns).size(), 100u);
    rollcall::test::RoundTrips counted{server()};
    Client far{counted.url()};
    RedisServiceTopology topology{far};
    topology.topology("{other}");  // The connection.
    EXPECT_EQ(counted.of([&] { topology.topology(ns); }), 2);
}

TEST_F(ATopology, OneOddConsumerSpoilsNoOther) {
    redis().must(
        {"HSET", DiscoveryKeyGenerator::topology_idx_key(ns), "a", "5", "b", "5", "c", "5"});
    redis().must({"SET", DiscoveryKeyGenerator::topology_key(ns, "a"), "no Hash"});
    redis().must({"HSET", DiscoveryKeyGenerator::topology_key(ns, "b"), "order", "5"});
    RedisServiceTopology topology{client};
    EXPECT_EQ(topology.topology(ns), (Topology{{"b", {"order"}}, {"c", {}}}));
    EXPECT_TRUE(log.has("left out the consumer a"));
}

class Namespaces : public CoskyTest {};

TEST_F(Namespaces, AreAddedListedAndRemoved) {
    RedisNamespaceService namespaces{client};
    EXPECT_TRUE(namespaces.set_namespace("b"));
    EXPECT_FALSE(namespaces.set_namespace("b")) << "E15";
    EXPECT_TRUE(namespaces.set_namespace("a"));
    EXPECT_THAT(namespaces.namespaces(), ElementsAre("a", "b"));
    EXPECT_TRUE(namespaces.remove_namespace("a"));
    EXPECT_FALSE(namespaces.remove_namespace("a"));
    EXPECT_THAT(redis().must({"SMEMBERS", "cosky-{system}:ns_idx"}).texts(), ElementsAre("b"));
    EXPECT_THROW(namespaces.set_namespace(" "), std::invalid_argument);
}

TEST_F(Namespaces, WhatAPeerAddedCanBeRemoved) {
    RedisNamespaceService namespaces{client};
    for (std::string const odd : {"a:b", "two words", "\xff", "new\nline"}) {
        redis().must({"SADD", "cosky-{system}:ns_idx", odd});
        ASSERT_THAT(namespaces.namespaces(), ElementsAre(odd));
        EXPECT_TRUE(namespaces.remove_namespace(odd));
        EXPECT_THROW(namespaces.set_namespace(odd), std::invalid_argument);
    }
    std::error_code error;
    EXPECT_FALSE(namespaces.remove_namespace("a:b", error));
    EXPECT_FALSE(error);
    EXPECT_THROW(namespaces.remove_namespace(" "), std::invalid_argument);
}

}  // namespace
}  // namespace rollcall::cosky::test
