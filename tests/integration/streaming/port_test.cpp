#include <boost/json/parse.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thread>

#include "integration/streaming/fixture.hpp"
#include "streaming/streaming_port.hpp"

namespace rollcall::streaming::test {
namespace {

class Port : public StreamingTest {
protected:
    /// The result of a call of the port, on the I/O thread.
    template <class Call>
    auto run(Call call) {
        return client.core()->run([&] { return call(*port, after(5s)); });
    }
    Written add(ServiceInstance const& instance) {
        return run([&](auto& p, Deadline d) { return p.register_instance(instance, d); }).value();
    }
    std::vector<Found> find(Query const& query) {
        return run([&](auto& p, Deadline d) { return p.instances(query, d); }).value();
    }
    std::optional<Found> one(InstanceId const& which) {
        return run([&](auto& p, Deadline d) { return p.instance(which, d); }).value();
    }
    static std::vector<std::string> ids(std::vector<Found> const& found) {
        std::vector<std::string> result;
        for (auto const& each : found) result.push_back(each.instance.instance_id);
        return result;
    }
    std::string field(std::string const& name) {
        return redis().must({"HGET", instance_key("orders", "o-1"), name}).text;
    }
    std::string score() { return redis().must({"ZSCORE", heartbeats_key("orders"), "o-1"}).text; }

    std::unique_ptr<LayoutPort> port = make_streaming_port(client.core(), {});
    InstanceId const id{"orders", "o-1"};
};

TEST_F(Port, StoresWhatItSaysItStores) {
    auto given = an_instance("my orders", "");
    given.scheme = "HTTPS";
    given.port = 0;
    auto const stored = port->validated(given);
    EXPECT_EQ(stored.service_name, "my-orders");
    EXPECT_EQ(stored.instance_id, "my-orders-10.0.0.5_443");
    EXPECT_EQ(stored.scheme, "https");
    EXPECT_EQ(stored.port, 443);
    EXPECT_FALSE(add(given).existed);
    auto const found = one({"my orders", stored.instance_id});
    ASSERT_TRUE(found);
    EXPECT_EQ(found->instance, stored);
    auto const names = port->validated(InstanceId{"a b", "c:d"});
    EXPECT_EQ(names.service, "a-b");
    EXPECT_EQ(names.id, "c_d");
    EXPECT_THROW(port->validated(InstanceId{"", "x"}), std::invalid_argument);
}

TEST_F(Port, LeasesAreWhatIsLeftByRedisClock) {
    add(an_instance("orders", "o-1"));
    redis().must({"ZADD", heartbeats_key("orders"), std::to_string(redis_now() - 30'000), "o-1"});
    auto persistent = an_instance("orders", "p-1");
    persistent.ephemeral = false;
    add(persistent);
    Query query;
    query.service = "orders";
    auto const found = find(query);
    ASSERT_EQ(ids(found), (std::vector<std::string>{"o-1", "p-1"}));
    ASSERT_TRUE(found[0].lease);
    EXPECT_LE(*found[0].lease, 60s);
    EXPECT_GT(*found[0].lease, 55s);
    ASSERT_TRUE(found[0].state.lease_until);
    EXPECT_NEAR(std::chrono::duration<double>(*found[0].state.lease_until - after(0s)).count(), 60,
                5);
    EXPECT_TRUE(found[1].lease) << "readers hide silent persistent instances, too";
    EXPECT_FALSE(found[1].state.lease_until) << "but nothing removes them";
    EXPECT_TRUE(found[0].state.registered_at);
}

TEST_F(Port, EverythingIncludesTheSilent) {
    add(an_instance("orders", "o-1"));
    redis().must({"HSET", instance_key("orders", "old"), "host", "h", "port", "1", "metadata",
                  R"({"region":"eu"})"});
    redis().must({"ZADD", heartbeats_key("orders"), "5", "old", "-5", "older", "1", "bare"});
    redis().must({"HSET", instance_key("orders", "older"), "host", "h", "port", "1"});
    Query query;
    query.service = "orders";
    EXPECT_EQ(ids(find(query)), std::vector<std::string>{"o-1"});
    query.scope = ListScope::everything;
    auto const all = find(query);
    EXPECT_EQ(ids(all), (std::vector<std::string>{"older", "old", "o-1"}));
    EXPECT_EQ(all[0].lease, 0ms);
    query.metadata = {{"region", Comparison::eq, "eu"}};
    EXPECT_EQ(ids(find(query)), std::vector<std::string>{"old"});
    auto const services = run([](auto& p, Deadline d) { return p.services(d); });
    ASSERT_TRUE(services);
    ASSERT_EQ(services->size(), 1u);
    EXPECT_EQ(services->front().instances, 1u) << "the discoverable ones";
}

TEST_F(Port, ConditionsAreWhatTheySay) {
    auto instance = an_instance("orders", "o-1");
    instance.metadata = {{"a:>", "1"}, {"n", "10"}};
    add(instance);
    redis().must({"HSET", instance_key("orders", "o-1"), "metrics", R"({"cpu":80})"});
    auto const matches = [&](std::vector<Condition> metadata, std::vector<Condition> metrics) {
        Query query;
        query.service = "orders";
        query.metadata = std::move(metadata);
        query.metrics = std::move(metrics);
        return find(query).size() == 1;
    };
    EXPECT_TRUE(matches({{"a:>", Comparison::eq, "1"}}, {}));
    EXPECT_TRUE(matches({{"n", Comparison::gt, "9"}, {"n", Comparison::gt, "8"}}, {}));
    EXPECT_FALSE(matches({{"n", Comparison::gt, "11"}, {"n", Comparison::gt, "8"}}, {}));
    EXPECT_TRUE(matches({}, {{"cpu", Comparison::le, "80"}}));
    EXPECT_FALSE(matches({}, {{"cpu", Comparison::lt, "80"}}));
}

TEST_F(Port, ChangesOfFieldsKeepScoreAndLease) {
    add(an_instance("orders", "o-1"));
    redis().must({"EXPIRE", instance_key("orders", "o-1"), "50"});
    auto const before = redis().must({"HGETALL", instance_key("orders", "o-1")}).pairs();
    auto const heartbeat = score();
    heard();
    auto const changed = [&](auto call, std::string const& name, std::string const& value) {
        auto const written = run(call);
        ASSERT_TRUE(written) << written.error().detail();
        EXPECT_TRUE(written->existed);
        EXPECT_TRUE(written->announced);
        EXPECT_EQ(field(name), value);
    };
    changed([&](auto& p, Deadline d) { return p.set_enabled(id, false, d); }, "enabled", "false");
    changed([&](auto& p, Deadline d) { return p.set_healthy(id, false, d); }, "healthy", "false");
    changed([&](auto& p, Deadline d) { return p.set_weight(id, 42, d); }, "weight", "42");
    EXPECT_EQ(field("lastMetadataUpdate"), before.at("lastMetadataUpdate"));
    Metadata const metadata{{"url", "http://x/y"}};
    changed([&](auto& p, Deadline d) { return p.set_metadata(id, metadata, d); }, "metadata",
            R"({"url":"http://x/y"})");
    EXPECT_GE(field("lastMetadataUpdate"), before.at("lastMetadataUpdate"));
    EXPECT_EQ(score(), heartbeat);
    EXPECT_EQ(field("lastHeartbeatTime"), before.at("lastHeartbeatTime"));
    EXPECT_LE(redis().must({"TTL", instance_key("orders", "o-1")}).integer, 50);

    auto const messages = listener.drain();
    ASSERT_EQ(messages.size(), 4u);
    auto const last = boost::json::parse(messages.back().payload);
    EXPECT_EQ(last.at("action").as_string(), "UPDATED");
    EXPECT_EQ(last.at("instance").at("enabled").as_bool(), false);
    EXPECT_EQ(last.at("instance").at("weight").as_int64(), 42);
    EXPECT_EQ(last.at("instance").at("metadata").at("url").as_string(), "http://x/y");
}

TEST_F(Port, ChangesNeverRegister) {
    redis().must({"HSET", instance_key("orders", "o-1"), "healthy", "false"});
    Metadata const metadata{{"k", "v"}};
    auto const unchanged = [&](auto call) {
        auto const written = run(call);
        ASSERT_TRUE(written);
        EXPECT_FALSE(written->existed);
    };
    unchanged([&](auto& p, Deadline d) { return p.set_enabled(id, false, d); });
    unchanged([&](auto& p, Deadline d) { return p.set_metadata(id, metadata, d); });
    unchanged([&](auto& p, Deadline d) { return p.merge_metadata(id, metadata, d); });
    EXPECT_EQ(redis().must({"HLEN", instance_key("orders", "o-1")}).integer, 1);
    EXPECT_EQ(keys().size(), 1u);
    EXPECT_TRUE(heard().empty());
}

TEST_F(Port, BadChangesAreRefused) {
    add(an_instance("orders", "o-1"));
    Metadata const bytes{{"k", "\xff"}};
    Metadata const big{{"k", std::string(100'000, 'x')}};
    InstanceId const blank{" ", "x"};
    auto const refused = [&](auto call) {
        EXPECT_THROW(static_cast<void>(run(call)), std::invalid_argument);
    };
    refused([&](auto& p, Deadline d) { return p.set_weight(id, -5, d); });
    refused([&](auto& p, Deadline d) { return p.set_metadata(id, bytes, d); });
    refused([&](auto& p, Deadline d) { return p.merge_metadata(id, big, d); });
    refused([&](auto& p, Deadline d) { return p.set_enabled(blank, true, d); });
    refused([&](auto& p, Deadline d) { return p.deregister_instance(blank, d); });
    EXPECT_EQ(field("metadata"), "{}");
    EXPECT_EQ(field("weight"), "1");
}

TEST_F(Port, AMergeKeepsWhatOthersStored) {
    add(an_instance("orders", "o-1"));
    redis().must({"HSET", instance_key("orders", "o-1"), "metadata",
                  R"({"a":"1","long":123456789012345678,"null":null})"});
    Metadata const metadata{{"a", "2"}, {"b", "3"}};
    ASSERT_TRUE(run([&](auto& p, Deadline d) { return p.merge_metadata(id, metadata, d); }));
    EXPECT_EQ(field("metadata"), R"({"a":"2","b":"3","long":"123456789012345678"})");
    // The form of old writers is read as well.
    redis().must({"HDEL", instance_key("orders", "o-1"), "metadata"});
    redis().must({"HSET", instance_key("orders", "o-1"), "metadata_old", "x"});
    ASSERT_TRUE(run([&](auto& p, Deadline d) { return p.merge_metadata(id, metadata, d); }));
    EXPECT_EQ(field("metadata"), R"({"a":"2","b":"3","old":"x"})");
}

TEST_F(Port, MergesOfManyLoseNothing) {
    add(an_instance("orders", "o-1"));
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
        threads.emplace_back([this, t] {
            for (int i = 0; i < 10; ++i) {
                Metadata const one{{std::to_string(t) + "-" + std::to_string(i), "x"}};
                ASSERT_TRUE(run([&](auto& p, Deadline d) { return p.merge_metadata(id, one, d); }));
            }
        });
    }
    for (auto& thread : threads) thread.join();
    auto const found = one(id);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->instance.metadata.size(), 40u);
}

TEST_F(Port, RemovalsTellWhatWasThere) {
    add(an_instance("orders", "o-1"));
    heard();
    auto const remove = [&] {
        return run([&](auto& p, Deadline d) { return p.deregister_instance(id, d); });
    };
    auto const first = remove();
    ASSERT_TRUE(first);
    EXPECT_TRUE(first->existed);
    auto const second = remove();
    ASSERT_TRUE(second);
    EXPECT_FALSE(second->existed);
    EXPECT_EQ(heard(), (std::vector<Told>{{"REMOVED", "orders", "o-1", true},
                                          {"REMOVED", "orders", "o-1", false}}));
    EXPECT_EQ(keys().size(), 0u);
}

TEST_F(Port, HeartbeatsAnswerForEachId) {
    add(an_instance("orders", "o-1"));
    add(an_instance("web", "w-1"));
    redis().must({"SET", instance_key("web", "text"), "x"});
    std::vector<InstanceId> const batch{{"orders", "o-1"}, {"orders", "nosuch"}, {"", "bad"},
                                        {"web", "text"},   {"web", "w-1"},       {"nosuch", "x"}};
    auto const result = run([&](auto& p, Deadline d) { return p.heartbeat(batch, d); });
    ASSERT_TRUE(result);
    EXPECT_EQ(*result, (std::vector{Liveness::alive, Liveness::gone, Liveness::failed,
                                    Liveness::refused, Liveness::alive, Liveness::gone}));
    std::vector<InstanceId> const none;
    EXPECT_TRUE(run([&](auto& p, Deadline d) { return p.heartbeat(none, d); })->empty());
    std::vector<InstanceId> const too_many(LayoutPort::max_batch + 1, id);
    EXPECT_THROW(run([&](auto& p, Deadline d) { return p.heartbeat(too_many, d); }).value(),
                 std::invalid_argument);
}

TEST_F(Port, ManyHeartbeatsTakeSeveralRounds) {
    add(an_instance("orders", "o-1"));
    add(an_instance("web", "w-1"));
    std::vector<InstanceId> batch(17'000, InstanceId{"orders", "nosuch"});
    batch[5] = {"orders", "o-1"};
    batch[16'999] = {"web", "w-1"};
    std::vector<Liveness> expected(batch.size(), Liveness::gone);
    expected[5] = Liveness::alive;
    expected[16'999] = Liveness::alive;
    auto const result = run([&](auto& p, Deadline d) { return p.heartbeat(batch, d); });
    ASSERT_TRUE(result);
    EXPECT_EQ(*result, expected);
}

TEST_F(Port, AFailureOfAllHeartbeatsIsAFailure) {
    redis().must({"HSET", instance_key("orders", "o-1"), "host", "h", "port", "1"});
    redis().must({"SET", heartbeats_key("orders"), "x"});
    std::vector<InstanceId> const batch{id};
    auto const result = run([&](auto& p, Deadline d) { return p.heartbeat(batch, d); });
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code(), errc::unexpected_reply);
}

TEST_F(Port, AnInstanceIsReadWhateverItsAge) {
    EXPECT_FALSE(one(id));
    redis().must({"HSET", instance_key("orders", "o-1"), "healthy", "false"});
    EXPECT_FALSE(one(id)) << "a phantom is none";
    redis().must({"HSET", instance_key("orders", "o-1"), "host", "h", "port", "1"});
    auto const found = one(id);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->lease, 0ms);
    redis().must({"SET", instance_key("orders", "text"), "x"});
    InstanceId const text{"orders", "text"};
    EXPECT_FALSE(run([&](auto& p, Deadline d) { return p.instance(text, d); }));
}

TEST_F(Port, OptionsAreChecked) {
    auto const refused = [&](std::string prefix_given, std::chrono::milliseconds lease) {
        StreamingPortOptions given;
        given.prefix = std::move(prefix_given);
        given.lease = lease;
        EXPECT_THROW(make_streaming_port(client.core(), given), std::invalid_argument)
            << given.prefix << ' ' << lease.count();
    };
    refused("", 90s);
    refused("a b", 90s);
    refused("x", 400ms);
    refused("x", 1'500ms);
    refused("x", 0ms);
    refused("x", -5s);
    refused("x", std::chrono::hours{99'999'999});
    EXPECT_TRUE(make_streaming_port(client.core(), {"x", 1s}));
}

}  // namespace
}  // namespace rollcall::streaming::test
