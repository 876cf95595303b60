#include <algorithm>
#include <atomic>
#include <csignal>
#include <gtest/gtest.h>
#include <map>
#include <set>
#include <thread>

#include "integration/streaming/fixture.hpp"
#include "registry/sweeper.hpp"
#include "streaming/streaming_port.hpp"

namespace rollcall::streaming::test {
namespace {

std::string const lease_key = std::string{prefix} + ":rollcall:sweep";

class Cleanup : public StreamingTest {
protected:
    using StreamingTest::store;
    /// Silent for `age` milliseconds; its Hash has expired.
    void store(std::string const& service, std::string const& id, long long age) {
        store(service, id, age, {});
    }

    static ServiceProviderConfig fast(std::chrono::milliseconds delay = 1ms) {
        ServiceProviderConfig config;
        config.cleanup_delay = delay;
        config.cleanup_period = 10ms;
        return config;
    }

    bool is_gone(std::string const& service) {
        return eventually(
            [&] { return redis().must({"EXISTS", heartbeats_key(service)}).integer == 0; });
    }
    std::string holder() { return redis().must({"GET", lease_key}).text; }

    std::unique_ptr<LayoutPort> port(std::chrono::milliseconds lease = 90s) {
        return make_streaming_port(client.core(), {std::string{prefix}, lease});
    }
    Result<SweepReport> sweep(LayoutPort& by) {
        return client.core()->run([&] { return by.sweep(after(5s)); });
    }
    Result<SweepReport> lead(LayoutPort& by, std::chrono::milliseconds hold) {
        return client.core()->run([&] { return by.sweep_as_leader(hold, after(5s)); });
    }
};

TEST_F(Cleanup, Defect1_ARunningProviderRemovesAndAnnouncesWhatExpired) {
    store("orders", "bare", 200'000);
    store("orders", "dead", 100'000, {"host", "h", "port", "1", "ephemeral", "true"});
    RedisServiceProvider provider{client, fast()};
    provider.start();
    EXPECT_TRUE(is_gone("orders"));
    provider.stop();
    EXPECT_EQ(heard(), (std::vector<Told>{{"REMOVED", "orders", "bare", false},
                                          {"REMOVED", "orders", "dead", true}}));
    EXPECT_EQ(keys(), std::vector<std::string>{});
}

TEST_F(Cleanup, TheFirstRoundComesAfterTheDelay) {
    EXPECT_EQ(ServiceProviderConfig{}.cleanup_delay, 60s);
    EXPECT_EQ(ServiceProviderConfig{}.cleanup_period, 30s);
    store("orders", "bare", 100'000);
    RedisServiceProvider patient{client, fast(1h)};
    patient.start();
    RedisServiceProvider prompt{client, fast()};
    prompt.start();
    EXPECT_TRUE(is_gone("orders"));
    prompt.stop();
    store("orders", "bare", 100'000);
    EXPECT_FALSE(eventually([&] { return !holder().empty(); }, 100ms));
    EXPECT_EQ(redis().must({"EXISTS", heartbeats_key("orders")}).integer, 1);
    auto const before = std::chrono::steady_clock::now();
    patient.stop();
    EXPECT_LT(std::chrono::steady_clock::now() - before, 5s);
}

TEST_F(Cleanup, GoesOnWhileItRuns) {
    RedisServiceProvider provider{client, fast()};
    provider.start();
    for (int i = 0; i < 3; ++i) {
        store("orders", "bare", 100'000);
        EXPECT_TRUE(is_gone("orders"));
    }
    provider.stop();
    provider.start();
    store("orders", "bare", 100'000);
    EXPECT_TRUE(is_gone("orders"));
}

TEST_F(Cleanup, Defect15_ServicesLeaveTheIndexWithTheirLastInstance) {
    redis().must({"SADD", index_key(), "stale"});
    store("orders", "bare", 100'000);
    store("mixed", "bare", 100'000);
    store("mixed", "fresh", 0, {"host", "h", "port", "1"});
    auto const by = port();
    ASSERT_TRUE(sweep(*by));
    EXPECT_EQ(redis().must({"SMEMBERS", index_key()}).texts(), std::vector<std::string>{"mixed"});
}

TEST_F(Cleanup, Defect17_APrefixIsOnePrefixEverywhere) {
    ServiceProviderConfig config;
    config.key_prefix = "  ";
    EXPECT_THROW((RedisServiceProvider{client, config}), std::invalid_argument);
    config.key_prefix = "a:b";
    config.cleanup_delay = 1ms;
    config.cleanup_period = 10ms;
    redis().must({"SADD", "a:b:services", "orders"});
    redis().must({"ZADD", "a:b:services:orders:heartbeats", "1", "o-1"});
    redis().must({"HSET", "a:b:services:orders:instance:o-1", "host", "h"});
    RedisServiceProvider provider{client, config};
    provider.start();
    EXPECT_TRUE(eventually([&] { return redis().must({"EXISTS", "a:b:services"}).integer == 0; }));
    provider.stop();
    EXPECT_EQ(keys(), std::vector<std::string>{});
}

TEST_F(Cleanup, Defect66_APersistentInstanceIsMarkedOnce) {
    store("orders", "p-1", 100'000, {"host", "h", "port", "1", "ephemeral", "false"});
    auto const by = port();
    ASSERT_TRUE(sweep(*by));
    EXPECT_EQ(redis().must({"HGET", instance_key("orders", "p-1"), "healthy"}).text, "false");
    redis().must({"CONFIG", "RESETSTAT"});
    ASSERT_TRUE(sweep(*by));
    EXPECT_EQ(redis().must({"INFO", "commandstats"}).text.find("cmdstat_hset"), std::string::npos)
        << "not written again";
    EXPECT_TRUE(heard().empty());
    RedisServiceProvider provider{client};
    provider.start();
    EXPECT_EQ(provider.send_heartbeat(an_instance("orders", "p-1")), HeartbeatResult::alive);
    EXPECT_EQ(redis().must({"HGET", instance_key("orders", "p-1"), "healthy"}).text, "true");
}

TEST_F(Cleanup, Defect68_UnusableSnapshotsAreNotTold) {
    store("orders", "a-none", 500'000);
    store("orders", "b-phantom", 400'000, {"healthy", "false"});
    store("orders", "c-odd", 300'000,
          {"host", "h", "port", "1", "protocol", "gopher", "weight", "x", "metadata", "{broken"});
    store("orders", "d-bytes", 200'000, {"host", "h\xff", "port", "1"});
    auto const by = port();
    ASSERT_TRUE(sweep(*by));
    EXPECT_EQ(heard(), (std::vector<Told>{{"REMOVED", "orders", "a-none", false},
                                          {"REMOVED", "orders", "b-phantom", false},
                                          {"REMOVED", "orders", "c-odd", true},
                                          {"REMOVED", "orders", "d-bytes", true}}));
}

TEST_F(Cleanup, OneServiceInTroubleStopsNoOther) {
    redis().must({"SADD", index_key(), "broken"});
    redis().must({"SET", heartbeats_key("broken"), "x"});
    store("orders", "bare", 100'000);
    redis().must({"ZADD", heartbeats_key("orders"), "1", "text"});
    redis().must({"SET", instance_key("orders", "text"), "x"});
    auto const by = port();
    auto const report = sweep(*by);
    ASSERT_TRUE(report);
    ASSERT_EQ(report->services.size(), 2u);
    EXPECT_EQ(report->services[0].service, "broken");
    ASSERT_TRUE(report->services[0].failure);
    EXPECT_EQ(report->services[0].failure->code(), errc::unexpected_reply);
    EXPECT_EQ(report->services[1].removed, std::vector<std::string>{"bare"});
    EXPECT_EQ(redis().must({"GET", instance_key("orders", "text")}).text, "x")
        << "what is not ours stays";
}

TEST_F(Cleanup, AnyNumberIsRemovedInBoundedSteps) {
    for (int i = 0; i < 150; ++i) {
        store("orders", "p" + std::to_string(i), 200'000,
              {"host", "h", "port", "1", "ephemeral", "false"});
    }
    for (int i = 0; i < 350; ++i) store("orders", "e" + std::to_string(i), 100'000);
    auto const by = port();
    auto const report = sweep(*by);
    ASSERT_TRUE(report);
    ASSERT_EQ(report->services.size(), 1u);
    EXPECT_EQ(report->services[0].removed.size(), 350u);
    EXPECT_EQ(heard().size(), 350u);
    EXPECT_EQ(redis().must({"ZCARD", heartbeats_key("orders")}).integer, 150);
}

TEST_F(Cleanup, EachRemovalIsAnnouncedOnceHoweverManySweep) {
    for (int round = 0; round < 5; ++round) {
        for (int i = 0; i < 200; ++i) {
            store("s" + std::to_string(i % 4), "i" + std::to_string(i), 100'000);
        }
        heard();
        std::vector<std::thread> threads;
        for (int t = 0; t < 3; ++t) {
            threads.emplace_back([&] {
                Client other{server().url()};
                auto const by = make_streaming_port(other.core(), {});
                ASSERT_TRUE(other.core()->run([&] { return by->sweep(after(5s)); }));
            });
        }
        for (auto& thread : threads) thread.join();
        auto messages = heard();
        EXPECT_EQ(messages.size(), 200u);
        std::set<std::pair<std::string, std::string>> once;
        for (auto const& message : messages) once.emplace(message.service, message.id);
        EXPECT_EQ(once.size(), 200u);
    }
}

/// What was announced, how often.
std::map<std::string, int> counted(std::vector<Told> const& messages) {
    std::map<std::string, int> counts;
    for (auto const& message : messages) ++counts[message.id];
    return counts;
}

TEST_F(Cleanup, NothingGoesUnannouncedWhenTimeRunsOut) {
    // More than fits into the time: what was removed was announced, the rest is still there.
    constexpr int services = 200;
    constexpr int each = 200;
    for (int s = 0; s < services; ++s) {
        std::vector<std::string> add{"ZADD", heartbeats_key("s" + std::to_string(s))};
        for (int i = 0; i < each; ++i) {
            add.insert(add.end(), {"1", std::to_string(s) + "-" + std::to_string(i)});
        }
        redis().must({"SADD", index_key(), "s" + std::to_string(s)});
        redis().must(add);
    }
    auto const by = port();
    auto const report = client.core()->run([&] { return by->sweep(after(50ms)); });
    ASSERT_TRUE(report);
    EXPECT_TRUE(std::ranges::any_of(
        report->services, [](auto const& service) { return service.failure.has_value(); }));
    // What was sent goes on, before this answer on the same connection.
    client.wait_until_ready(5s);
    std::size_t left = 0;
    for (int s = 0; s < services; ++s) {
        left += static_cast<std::size_t>(
            redis().must({"ZCARD", heartbeats_key("s" + std::to_string(s))}).integer);
    }
    auto const counts = counted(heard());
    EXPECT_EQ(counts.size() + left, std::size_t{services * each});
    for (auto const& [id, count] : counts) EXPECT_EQ(count, 1) << id;
}

TEST_F(Cleanup, ABrokenConnectionLosesAndDoublesNoAnnouncement) {
    constexpr int instances = 3'000;
    for (int i = 0; i < instances; ++i) {
        store("s" + std::to_string(i % 30), "i" + std::to_string(i), 100'000);
    }
    redis().must({"ACL", "SETUSER", "sweeper", "on", ">pw", "~*", "&*", "+@all"});
    Client cut_off{"unix://sweeper:pw@" + server().socket()};
    auto const by = make_streaming_port(cut_off.core(), {});
    std::atomic<bool> done = false;
    std::thread cutter{[&] {
        RedisClient own{server()};
        while (!done) {
            own.must({"CLIENT", "KILL", "USER", "sweeper"});
            std::this_thread::sleep_for(2ms);
        }
    }};
    auto const sweep_all = [&] {
        return cut_off.core()->run([&] { return by->sweep(after(5s)); });
    };
    for (int round = 0; round < 20; ++round) {
        auto const report = sweep_all();
        if (report && report->services.empty()) break;
    }
    done = true;
    cutter.join();
    ASSERT_TRUE(sweep_all());
    auto const counts = counted(heard());
    EXPECT_EQ(counts.size(), std::size_t{instances});
    for (auto const& [id, count] : counts) EXPECT_EQ(count, 1) << id;
}

TEST_F(Cleanup, ARefusalIsNoEmptyReport) {
    store("orders", "bare", 100'000);
    redis().must({"ACL", "SETUSER", "blind", "on", ">pw", "~*", "&*", "+@all", "-hgetall"});
    Client blind{"unix://blind:pw@" + server().socket()};
    auto const by = make_streaming_port(blind.core(), {});
    auto const report = blind.core()->run([&] { return by->sweep(after(5s)); });
    ASSERT_TRUE(report);
    ASSERT_EQ(report->services.size(), 1u);
    ASSERT_TRUE(report->services[0].failure);
    EXPECT_EQ(report->services[0].failure->code(), errc::access_denied);
}

TEST_F(Cleanup, NobodyKeepsOthersFromSweepingForLong) {
    auto config = fast();
    config.cleanup_period = 1h;
    RedisServiceProvider slow{client, config};
    slow.start();
    ASSERT_TRUE(eventually([&] { return !holder().empty(); }));
    EXPECT_LE(redis().must({"PTTL", lease_key}).integer, 60'000);
}

TEST_F(Cleanup, AProviderStopsWithinItsTimeWhateverRedisDoes) {
    auto const stopped_within = [&](std::chrono::milliseconds limit) {
        RedisServiceProvider provider{client, fast()};
        provider.start();
        std::this_thread::sleep_for(50ms);  // So that a sweep is on its way.
        auto const start = std::chrono::steady_clock::now();
        provider.stop();
        auto const took = std::chrono::steady_clock::now() - start;
        EXPECT_LT(took, limit);
    };
    stopped_within(500ms);
    server().signal(SIGSTOP);
    stopped_within(500ms);
    server().signal(SIGCONT);
    server().kill();
    stopped_within(500ms);
    server().start();
}

TEST_F(Cleanup, OneOfManySweeps) {
    auto const first = port();
    auto const second = port();
    store("orders", "bare", 100'000);
    auto const led = lead(*first, 10s);
    ASSERT_TRUE(led);
    EXPECT_TRUE(led->leader);
    EXPECT_EQ(led->services.size(), 1u);
    store("orders", "bare", 100'000);
    auto const other = lead(*second, 10s);
    ASSERT_TRUE(other);
    EXPECT_FALSE(other->leader);
    EXPECT_TRUE(other->services.empty());
    EXPECT_EQ(redis().must({"EXISTS", heartbeats_key("orders")}).integer, 1);
    // The holder goes on and extends.
    redis().must({"PEXPIRE", lease_key, "5000"});
    EXPECT_TRUE(lead(*first, 10s)->leader);
    EXPECT_GT(redis().must({"PTTL", lease_key}).integer, 5'000);
    // What somebody else holds cannot be given up.
    ASSERT_TRUE(client.core()->run([&] { return second->yield_sweeping(after(5s)); }));
    EXPECT_FALSE(lead(*second, 10s)->leader);
    ASSERT_TRUE(client.core()->run([&] { return first->yield_sweeping(after(5s)); }));
    EXPECT_EQ(holder(), "");
    EXPECT_TRUE(lead(*second, 10s)->leader);
}

TEST_F(Cleanup, AnotherTakesOverWhenTheHolderDies) {
    redis().must({"SET", lease_key, "a process that died", "PX", "100"});
    store("orders", "bare", 100'000);
    RedisServiceProvider provider{client, fast()};
    provider.start();
    EXPECT_TRUE(is_gone("orders"));
    EXPECT_NE(holder(), "a process that died");
}

TEST_F(Cleanup, AStoppedProviderGivesTheLeaseUp) {
    RedisServiceProvider provider{client, fast()};
    provider.start();
    ASSERT_TRUE(eventually([&] { return !holder().empty(); }));
    provider.stop();
    EXPECT_EQ(holder(), "");
}

TEST_F(Cleanup, TheLeaseDecidesNothing) {
    redis().must({"LPUSH", lease_key, "no string"});
    store("orders", "bare", 100'000);
    RedisServiceProvider provider{client, fast()};
    provider.start();
    EXPECT_TRUE(is_gone("orders"));
    EXPECT_TRUE(log.has("without the lease"));
}

TEST_F(Cleanup, OnlyTheKeysOfTheDesignAreWritten) {
    RedisServiceProvider provider{client, fast()};
    provider.start();
    provider.register_instance(an_instance("orders", "o-1"));
    ASSERT_TRUE(eventually([&] { return !holder().empty(); }));
    EXPECT_EQ(keys(), (std::vector{lease_key, index_key(), heartbeats_key("orders"),
                                   instance_key("orders", "o-1")}));
}

TEST_F(Cleanup, ARemovedInstanceStartsAfresh) {
    // The provider's cleanup takes its own instance: the next heartbeat is due at once and, the
    // instance being its own, registers it again.
    RedisServiceProvider provider{client, fast()};
    provider.start();
    auto const instance = an_instance("orders", "o-1");
    provider.register_instance(instance);
    EXPECT_EQ(provider.send_heartbeat(instance), HeartbeatResult::alive);
    EXPECT_EQ(provider.send_heartbeat(instance), HeartbeatResult::not_due);
    redis().must({"ZADD", heartbeats_key("orders"), "1", "o-1"});
    ASSERT_TRUE(is_gone("orders"));
    EXPECT_TRUE(eventually(
        [&] { return provider.send_heartbeat(instance) == HeartbeatResult::reregistered; }));
}

TEST_F(Cleanup, StoppingWaitsForARoundAndIsQuick) {
    // Redis stops answering in the middle of everything.
    RedisServiceProvider provider{client, fast()};
    provider.start();
    ASSERT_TRUE(eventually([&] { return !holder().empty(); }));
    server().signal(SIGSTOP);
    auto const before = std::chrono::steady_clock::now();
    provider.stop();
    auto const took = std::chrono::steady_clock::now() - before;
    server().signal(SIGCONT);
    EXPECT_LT(took, 5s);
}

}  // namespace
}  // namespace rollcall::streaming::test
