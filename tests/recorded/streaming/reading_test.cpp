#include <algorithm>
#include <chrono>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "recorded/streaming/inputs.hpp"
#include "support/golden_json.hpp"
#include "support/golden_state.hpp"
#include "support/redis_server.hpp"

/// The other direction: what the design's own program left in Redis is listed, filtered and
/// administered by ours.
namespace rollcall::test {
namespace {

using namespace streaming;
using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::string_view services_prefix = "redis_streaming_registry:services:";

class ForeignStates : public testing::Test {
protected:
    ForeignStates() : redis(server), listener(server), client(server.url()), consumer(client) {
        consumer.start();
    }

    /// Loads what stood in Redis after the step, all heartbeats young. A lease of 2 s could end
    /// before everything is read.
    void load_after(golden::Recording const& recording, std::size_t index) {
        auto const now = golden::redis_time(redis);
        state = place(recording.before(index + 1), {}, now);
        for (auto& [key, live] : state) {
            auto& expiry = live.expiry;
            if (expiry.value != 0) expiry.value = std::max(expiry.value, now + 60'000);
        }
        load(redis, state);
    }
    void load_after(std::string_view file, std::string_view step) {
        auto const recording = golden::load_recording(file);
        auto const& steps = recording.steps;
        auto const found = std::find_if(steps.begin(), steps.end(),
                                        [&](auto const& other) { return other.name == step; });
        ASSERT_NE(found, steps.end()) << step;
        load_after(recording, static_cast<std::size_t>(found - steps.begin()));
    }

    golden::LiveKey const* hash(std::string const& service, std::string const& id) const {
        auto const found = state.find(std::string{services_prefix} + service + ":instance:" + id);
        return found == state.end() ? nullptr : &found->second;
    }

    std::vector<std::string> members(std::string const& service) const {
        std::vector<std::string> ids;
        for (auto const& entry :
             state.at(std::string{services_prefix} + service + ":heartbeats").scored) {
            ids.push_back(entry.first);
        }
        return ids;
    }

    std::set<std::string> services() const {
        auto const found = state.find("redis_streaming_registry:services");
        return found == state.end() ? std::set<std::string>{} : found->second.members;
    }

    /// What a reader must find, read plainly from what was loaded.
    std::vector<ServiceInstance> expected(std::string const& service) const {
        std::vector<ServiceInstance> instances;
        for (auto const& id : members(service)) {
            auto const* stored = hash(service, id);
            if (stored && stored->fields.contains("host")) {
                instances.push_back(stored_instance(state, service, id));
            }
        }
        return instances;
    }

    void check_lists(std::string const& service) {
        auto wanted = expected(service);
        EXPECT_EQ(consumer.all_instances(service), wanted);
        EXPECT_EQ(consumer.instances_by_filters(service, {}, {}), wanted);
        std::erase_if(wanted,
                      [](auto const& instance) { return !instance.enabled || !instance.healthy; });
        EXPECT_EQ(consumer.healthy_instances(service), wanted);
    }

    void check_details(std::string const& service, std::string const& id) {
        auto const* stored = hash(service, id);
        auto const details = consumer.admin()->instance_details(service, id);
        ASSERT_EQ(details.has_value(), stored != nullptr);
        if (!stored) return;
        auto const text = [&](std::string const& field, std::string const& otherwise) {
            auto const found = stored->fields.find(field);
            return found == stored->fields.end() ? otherwise : found->second;
        };
        EXPECT_EQ(details->host, text("host", ""));
        EXPECT_EQ(details->protocol, text("protocol", ""));
        EXPECT_EQ(std::to_string(details->port), text("port", "0"));
        EXPECT_EQ(std::to_string(details->weight), text("weight", "1"));
        EXPECT_EQ(details->enabled, text("enabled", "true") == "true");
        EXPECT_EQ(details->healthy, text("healthy", "true") == "true");
        EXPECT_EQ(details->ephemeral, text("ephemeral", "true") == "true");
        EXPECT_EQ(std::to_string(details->registration_time.count()),
                  text("registrationTime", "0"));
        EXPECT_EQ(std::to_string(details->last_heartbeat_time.count()),
                  text("lastHeartbeatTime", "0"));
        EXPECT_EQ(std::to_string(details->last_metadata_update.count()),
                  text("lastMetadataUpdate", "0"));
        EXPECT_EQ(details->metadata.has_value(), stored->fields.contains("metadata"));
    }

    RedisServer server;
    RedisClient redis;
    Listener listener;
    Client client;
    RedisServiceConsumer consumer;
    golden::LiveKeys state;
};

TEST_F(ForeignStates, AreListedAndAdministeredAfterEveryStep) {
    for (auto const& file : golden::recordings_of("streaming")) {
        auto const recording = golden::load_recording(file);
        for (std::size_t i = 0; i < recording.steps.size(); ++i) {
            SCOPED_TRACE(file + ", after " + recording.steps[i].name);
            load_after(recording, i);
            EXPECT_THAT(consumer.list_services(), testing::ElementsAreArray(services()));
            std::size_t total = 0;
            for (auto const& service : services()) {
                SCOPED_TRACE(service);
                check_lists(service);
                for (auto const& id : members(service)) check_details(service, id);
                total += members(service).size();
            }
            auto const health = consumer.admin()->registry_health();
            EXPECT_EQ(health.total_services, services().size());
            EXPECT_EQ(health.total_instances, total);
        }
    }
    EXPECT_THAT(listener.drain(), IsEmpty());
}

TEST_F(ForeignStates, KeepEveryCharacterOfMetadata) {
    load_after("streaming-register.txt", "register escapes in metadata");
    auto const found = consumer.all_instances("esc");
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].metadata.at("v"), "/ \" \\ \x01\n\x7f \xc3\xa9\xe4\xb8\xad\xf0\x9f\x98\x80");
    EXPECT_EQ(consumer.instances_by_metadata("esc", {{"v", found[0].metadata.at("v")}}), found);
}

TEST_F(ForeignStates, AreFilteredByMetricsThatAreThereTwice) {
    for (auto const* step : {"register with numeric metrics (nested application collector)",
                             "heartbeat with metrics"}) {
        SCOPED_TRACE(step);
        load_after("streaming-register.txt", step);
        auto const matches = [&](Filters const& metrics) {
            return consumer.instances_by_filters("met", {}, metrics).size() == 1;
        };
        EXPECT_TRUE(matches({{"application.threads", "7"}, {"application.load:<", "0.5"}}));
        EXPECT_TRUE(matches({{"application.big:>", "1e14"}}));
        EXPECT_TRUE(matches({{"application.url", "http://x/y"}}));
        EXPECT_TRUE(matches({{"application:!=", "x"}}));
        EXPECT_FALSE(matches({{"application", "x"}}));
        EXPECT_FALSE(matches({{"threads", "7"}}));
        EXPECT_FALSE(matches({{"application.load:>", "0.5"}}));
    }
}

TEST_F(ForeignStates, GiveMetricsThatAreThereTwiceToTheAdmin) {
    load_after("streaming-register.txt",
               "register with numeric metrics (nested application collector)");
    auto const metrics = consumer.admin()->instance_metrics("met", "m-1");
    ASSERT_EQ(metrics.size(), 5U);
    EXPECT_EQ(metrics.at("application.threads"), AdminValue{std::int64_t{7}});
    EXPECT_EQ(metrics.at("application.load"), AdminValue{0.25});
    EXPECT_EQ(metrics.at("application.big"), AdminValue{1.2345678901234e+14});
    EXPECT_EQ(metrics.at("application.url"), AdminValue{std::string{"http://x/y"}});
    auto const* nested = std::get_if<JsonText>(&metrics.at("application"));
    ASSERT_TRUE(nested);
    EXPECT_TRUE(golden::same_by_value(
        nested->text, R"({"threads":7,"url":"http://x/y","load":0.25,"big":1.2345678901234e+14})"));

    auto const details = consumer.admin()->service_details("met");
    ASSERT_TRUE(details.aggregated_metrics);
    auto const& summaries = details.aggregated_metrics->metrics;
    ASSERT_EQ(summaries.size(), 3U);
    EXPECT_EQ(summaries.at("application.threads"), (MetricSummary{7, 7, 7, 2}));
    EXPECT_EQ(summaries.at("application.load"), (MetricSummary{0.25, 0.25, 0.25, 2}));
    EXPECT_EQ(summaries.at("application.big").count, 2U);
}

TEST_F(ForeignStates, AreAdministeredUnderRawIds) {
    load_after("streaming-register.txt", "register with id containing a colon, persistent");
    auto const details = consumer.admin()->instance_details("orders", "box:80");
    ASSERT_TRUE(details);
    EXPECT_EQ(details->instance_id, "box_80");
    EXPECT_EQ(details->host, "10.0.0.9");
}

/// A Hash of `{healthy:false}` and nothing else, which cleanups of the recorded program leave.
class ForeignPhantoms : public ForeignStates {
protected:
    ForeignPhantoms() { load_after("streaming-cleanup.txt", "admin cleanup, 2 s"); }
};

TEST_F(ForeignPhantoms, AreNoInstances) {
    ASSERT_THAT(members("orders"), ElementsAre("o-1", "p-1"));
    auto const found = consumer.all_instances("orders");
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].instance_id, "p-1");
    EXPECT_THAT(consumer.healthy_instances("orders"), IsEmpty());
    EXPECT_THAT(consumer.instances_by_metadata("orders", {{"a:!=", "x"}}), IsEmpty());
}

TEST_F(ForeignPhantoms, AreRemovedAndAnnouncedByOurCleanup) {
    auto const old = golden::redis_time(redis) - 10'000;
    redis.must({"ZADD", std::string{services_prefix} + "orders:heartbeats", std::to_string(old),
                "o-1", std::to_string(old + 1), "p-1"});
    auto const removed = consumer.admin()->cleanup_expired_instances(milliseconds{2'000});
    EXPECT_THAT(removed, ElementsAre(testing::Pair("orders", 1)));
    auto const left = golden::read(redis);
    EXPECT_FALSE(left.contains(std::string{services_prefix} + "orders:instance:o-1"));
    auto const& scored = left.at(std::string{services_prefix} + "orders:heartbeats").scored;
    ASSERT_EQ(scored.size(), 1U);
    EXPECT_EQ(scored[0].first, "p-1");
    auto const messages = listener.drain();
    ASSERT_EQ(messages.size(), 1U);
    EXPECT_THAT(
        messages[0].payload,
        testing::StartsWith(R"({"@class":"io.github.cuihairu.redis.streaming.registry.event.)"
                            R"(ServiceChangeEvent","action":"REMOVED","instanceId":"o-1",)"
                            R"("serviceName":"orders","timestamp":)"));
}

TEST_F(ForeignPhantoms, DoNotStopARegistration) {
    RedisServiceProvider provider{client};
    provider.start();
    ServiceInstance instance;
    instance.service_name = "orders";
    instance.instance_id = "o-1";
    instance.host = "10.0.0.5";
    instance.port = 8080;
    EXPECT_FALSE(provider.register_instance(instance).existed);
    EXPECT_EQ(consumer.all_instances("orders").size(), 2U);
    EXPECT_EQ(consumer.healthy_instances("orders").size(), 1U);
}

}  // namespace
}  // namespace rollcall::test
