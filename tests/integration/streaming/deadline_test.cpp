#include <csignal>
#include <functional>
#include <gtest/gtest.h>

#include "integration/streaming/fixture.hpp"
#include "streaming/streaming_port.hpp"

namespace rollcall::streaming::test {
namespace {

using rollcall::test::time_of;
using rollcall::test::tolerated_overshoot;

constexpr auto limit = 60ms;

/// What a call reports: those that have no code of their own set one.
using Call = std::function<void(std::error_code&)>;

/// With a client whose calls have to end soon.
class CallDeadlines : public StreamingTest {
protected:
    void TearDown() override { server().signal(SIGCONT); }

    static ClientOptions hasty(ClientOptions options) {
        options.request_timeout = limit;
        return options;
    }

    /// A call that takes too long is made again, as a busy machine delays some.
    static std::error_code expect_in_time(std::string_view name, Call const& call) {
        std::error_code error;
        auto const made = [&] { return time_of([&] { call(error); }); };
        auto took = made();
        for (int i = 0; i < 2 && took > limit + tolerated_overshoot; ++i) took = made();
        EXPECT_LE(took, limit + tolerated_overshoot) << name;
        return error;
    }

    /// While Redis answers nothing.
    void expect_failure_in_time(std::string_view name, Call const& call) {
        server().signal(SIGSTOP);
        auto const error = expect_in_time(name, call);
        server().signal(SIGCONT);
        EXPECT_TRUE(error == errc::timeout || error == errc::not_connected)
            << name << ": " << error;
        client.wait_until_ready(10s);
    }

    void expect_of_provider(ServiceProvider& provider) {
        expect_failure_in_time("register",
                               [&](auto& e) { provider.register_instance(instance, e); });
        expect_failure_in_time("deregister",
                               [&](auto& e) { provider.deregister_instance(instance, e); });
        expect_failure_in_time("heartbeat", [&](auto& e) {
            if (provider.send_heartbeat(instance) == HeartbeatResult::failed) e = errc::timeout;
        });
        std::vector const many(100'000, instance);
        expect_failure_in_time("batch", [&](auto& e) {
            auto const results = provider.batch_send_heartbeats(many);
            if (results == std::vector(many.size(), HeartbeatResult::failed)) e = errc::timeout;
        });
    }

    void expect_of_consumer(ServiceConsumer& consumer) {
        Filters const filters{{"region", "eu"}};
        expect_failure_in_time("all", [&](auto& e) { consumer.all_instances("orders", e); });
        expect_failure_in_time("healthy",
                               [&](auto& e) { consumer.healthy_instances("orders", e); });
        expect_failure_in_time(
            "metadata", [&](auto& e) { consumer.instances_by_metadata("orders", filters, e); });
    }

    /// `call` takes the port and a deadline.
    template <class OfPort>
    void expect_of_port(std::string_view name, OfPort call) {
        expect_failure_in_time(name, [&](auto& e) {
            auto const outcome = client.core()->run([&] { return call(*port, after(limit)); });
            if (outcome.has_error()) e = outcome.error().code();
        });
    }

    ServiceInstance const instance = an_instance("orders", "o-1");
    InstanceId const id{"orders", "o-1"};
    Client client{hasty(options())};
    std::unique_ptr<LayoutPort> port = make_streaming_port(client.core(), {});
};

TEST_F(CallDeadlines, HoldForProviders) {
    HeartbeatConfig heartbeat;
    heartbeat.heartbeat_interval = 0ms;
    RedisServiceProvider provider{client, {}, heartbeat};
    provider.start();
    expect_of_provider(provider);
}

TEST_F(CallDeadlines, HoldForConsumers) {
    RedisServiceConsumer consumer{client};
    consumer.start();
    expect_of_consumer(consumer);
    expect_failure_in_time("metrics", [&](auto& e) {
        consumer.healthy_instances_by_filters("orders", {}, {{"cpu", "1"}}, e);
    });
    expect_failure_in_time("services", [&](auto& e) { consumer.list_services(e); });
}

TEST_F(CallDeadlines, HoldForNamingServices) {
    HeartbeatConfig heartbeat;
    heartbeat.heartbeat_interval = 0ms;
    RedisNamingService naming{client, {}, heartbeat};
    naming.start();
    expect_of_provider(naming);
    expect_of_consumer(naming);
    expect_failure_in_time("services", [&](auto& e) { naming.list_services(e); });
}

TEST_F(CallDeadlines, HoldForTheAdministration) {
    RegistryAdminService service{client};
    store("orders", "o-1", 0, {"host", "h", "port", "1"});
    expect_failure_in_time("services", [&](auto& e) { service.all_services(e); });
    expect_failure_in_time("details", [&](auto& e) { service.service_details("orders", 60s, e); });
    expect_failure_in_time("active", [&](auto& e) { service.active_instances("orders", 60s, e); });
    expect_failure_in_time("one", [&](auto& e) { service.instance_details("orders", "o-1", e); });
    expect_failure_in_time("metrics",
                           [&](auto& e) { service.instance_metrics("orders", "o-1", e); });
    expect_failure_in_time("health", [&](auto& e) { (void)service.registry_health(e); });
    expect_failure_in_time("cleanup", [&](auto& e) { service.cleanup_expired_instances(60s, e); });
}

TEST_F(CallDeadlines, HoldForChangesThroughThePort) {
    Metadata const metadata{{"k", "v"}};
    std::vector const many(LayoutPort::max_batch, id);
    expect_of_port("register",
                   [&](auto& p, Deadline d) { return p.register_instance(instance, d); });
    expect_of_port("deregister", [&](auto& p, Deadline d) { return p.deregister_instance(id, d); });
    expect_of_port("heartbeat", [&](auto& p, Deadline d) { return p.heartbeat(many, d); });
    expect_of_port("enabled", [&](auto& p, Deadline d) { return p.set_enabled(id, true, d); });
    expect_of_port("healthy", [&](auto& p, Deadline d) { return p.set_healthy(id, true, d); });
    expect_of_port("weight", [&](auto& p, Deadline d) { return p.set_weight(id, 1, d); });
    expect_of_port("set", [&](auto& p, Deadline d) { return p.set_metadata(id, metadata, d); });
    expect_of_port("merge", [&](auto& p, Deadline d) { return p.merge_metadata(id, metadata, d); });
}

TEST_F(CallDeadlines, HoldForReadsAndHousekeepingThroughThePort) {
    Query query;
    query.service = "orders";
    expect_of_port("services", [&](auto& p, Deadline d) { return p.services(d); });
    expect_of_port("instances", [&](auto& p, Deadline d) { return p.instances(query, d); });
    expect_of_port("instance", [&](auto& p, Deadline d) { return p.instance(id, d); });
    expect_of_port("sweep", [&](auto& p, Deadline d) { return p.sweep(d); });
    expect_of_port("lead", [&](auto& p, Deadline d) { return p.sweep_as_leader(1s, d); });
    expect_of_port("examine", [&](auto& p, Deadline d) { return p.examine(false, d); });
    expect_failure_in_time("wait", [&](auto& e) { client.wait_until_ready(limit, e); });
}

TEST_F(CallDeadlines, HoldForTheHealthOfManyServices) {
    std::string const script = R"(for i = 1, 10000 do
        local service = KEYS[1] .. ':s' .. i
        redis.call('SADD', KEYS[1], 's' .. i)
        redis.call('ZADD', service .. ':heartbeats', ARGV[1], 'i')
        redis.call('HSET', service .. ':instance:i', 'host', 'h')
    end)";
    redis().must({"EVAL", script, "1", index_key(), std::to_string(redis_now())});
    RegistryAdminService service{client};
    // Whether or not it is done by then.
    expect_in_time("health", [&](auto& e) { (void)service.registry_health(e); });
    EXPECT_EQ(RegistryAdminService{StreamingTest::client}.registry_health().active_instances,
              10'000u);
}

}  // namespace
}  // namespace rollcall::streaming::test
