// What a consumer has discovered: counted and judged without asking Redis.

#include "integration/streaming/provider_fixture.hpp"

namespace rollcall::streaming::test {
namespace {

class DiscoveredInstances : public ProviderTest {
protected:
    void SetUp() override {
        ProviderTest::SetUp();
        consumer.start();
    }
    ServiceInstance unhealthy(std::string service, std::string id) {
        auto result = an_instance(std::move(service), std::move(id));
        result.healthy = false;
        return result;
    }
    bool healthy(std::string const& service, std::string const& id) {
        return consumer.is_instance_healthy(service, id);
    }

    RedisServiceConsumer consumer{client};
};

TEST_F(DiscoveredInstances, AreThoseOfTheLastLists) {
    provider.register_instance(an_instance("web", "a"));
    provider.register_instance(unhealthy("web", "b"));
    provider.register_instance(an_instance("db", "b"));
    EXPECT_EQ(consumer.discovered_instance_count(), 0u) << "nothing was listed";
    EXPECT_FALSE(healthy("web", "a"));
    EXPECT_EQ(consumer.healthy_instances("web").size(), 1u);
    EXPECT_EQ(consumer.discovered_instance_count(), 2u);
    EXPECT_TRUE(healthy("web", "a"));
    EXPECT_FALSE(healthy("web", "b"));
    EXPECT_TRUE(consumer.is_instance_healthy("a"));
    consumer.all_instances("db");
    EXPECT_TRUE(healthy("db", "b"));
    EXPECT_FALSE(consumer.is_instance_healthy("b")) << "not in both services";
    EXPECT_FALSE(consumer.is_instance_healthy("c"));
    provider.deregister_instance(an_instance("web", "a"));
    EXPECT_TRUE(healthy("web", "a")) << "nobody asked since";
    consumer.refresh_service_instances("web");
    EXPECT_FALSE(healthy("web", "a"));
    EXPECT_EQ(consumer.discovered_instance_count(), 2u);
}

TEST_F(DiscoveredInstances, FollowASubscription) {
    provider.register_instance(an_instance("web", "a"));
    consumer.all_instances("web");
    auto const told = make_service_change_listener(
        [](std::string_view, ServiceChangeAction, ServiceInstance const*, InstanceList const&) {});
    consumer.subscribe("web", told);
    provider.register_instance(an_instance("web", "b"));
    EXPECT_TRUE(eventually([&] { return consumer.discovered_instance_count() == 2; }));
    EXPECT_TRUE(healthy("web", "b"));
    provider.deregister_instance(an_instance("web", "a"));
    EXPECT_TRUE(eventually([&] { return !healthy("web", "a"); }));
    EXPECT_EQ(consumer.discovered_instance_count(), 1u);
}

TEST_F(DiscoveredInstances, ARefreshFailsInSilence) {
    provider.register_instance(an_instance("web", "a"));
    consumer.all_instances("web");
    consumer.refresh_service_instances(std::string("\xff", 1));
    consumer.refresh_service_instances("");
    EXPECT_TRUE(log.has("nothing was refreshed"));
    redis().must({"DEL", heartbeats_key("web")});
    redis().must({"SET", heartbeats_key("web"), "no sorted set"});
    consumer.refresh_service_instances("web");
    EXPECT_TRUE(healthy("web", "a")) << "a failure changes nothing";
    consumer.stop();
    redis().must({"DEL", heartbeats_key("web")});
    consumer.refresh_service_instances("web");
    EXPECT_EQ(consumer.discovered_instance_count(), 1u) << "not while it is not running";
}

}  // namespace
}  // namespace rollcall::streaming::test
