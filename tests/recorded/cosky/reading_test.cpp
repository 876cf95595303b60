#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "recorded/cosky/inputs.hpp"
#include "support/golden_state.hpp"
#include "support/log_book.hpp"
#include "support/redis_server.hpp"

/// The other direction: what the design's own program left in Redis is read and counted by ours.
namespace rollcall::cosky::test {
namespace {

using rollcall::test::Listener;
using rollcall::test::LogBook;
using rollcall::test::RedisClient;
using rollcall::test::RedisServer;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

std::string const first_id = "order@http#10.0.1.5#8080";
std::string const second_id = "order@http#10.0.1.6#8081";

std::string instance_key(std::string const& id) { return recorded_ns + ":svc_itc:" + id; }

class ForeignNamespaces : public testing::Test {
protected:
    ForeignNamespaces() : redis(server), listener(server), client(options()) {}

    ClientOptions options() {
        ClientOptions made;
        made.url = server.url();
        made.log = log.callback();
        return made;
    }

    /// Loads what stood in Redis after the step.
    void load_after(golden::Recording const& recording, std::size_t index) {
        state = place(recording.before(index + 1), {}, golden::redis_time(redis));
        // Leases of a second or less could end before everything is read.
        for (auto& [key, live] : state) {
            auto& expiry = live.expiry;
            if (expiry.value != 0) expiry.value = std::max(expiry.value, soonest());
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
    long long soonest() { return golden::redis_time(redis) + 30'000; }

    std::set<std::string> members(std::string const& key) const {
        auto const found = state.find(key);
        return found == state.end() ? std::set<std::string>{} : found->second.members;
    }
    std::set<std::string> ids(std::string const& service) const {
        return members(recorded_ns + ":svc_itc_idx:" + service);
    }
    std::map<std::string, std::string> fields(std::string const& key) const {
        auto const found = state.find(key);
        return found == state.end() ? std::map<std::string, std::string>{} : found->second.fields;
    }
    bool is_stored(std::string const& id) const { return state.contains(instance_key(id)); }

    void check_instance(std::string const& service, std::string const& id) {
        SCOPED_TRACE(id);
        auto const found = discovery.instance(recorded_ns, service, id);
        auto const ttl = discovery.instance_ttl(recorded_ns, service, id);
        ASSERT_EQ(found.has_value(), is_stored(id));
        if (!found) {
            EXPECT_EQ(ttl, -2);
            return;
        }
        EXPECT_EQ(found->instance, stored_instance(state, id));
        auto const& expiry = state.at(instance_key(id)).expiry;
        for (auto const seconds : {ttl, found->ttl_at}) {
            if (expiry.kind == golden::Expiry::Kind::none) {
                EXPECT_EQ(seconds, TTL_AT_FOREVER);
            } else {
                EXPECT_TRUE(golden::is_end_of_lease(std::to_string(seconds), expiry.value));
            }
        }
        EXPECT_EQ(found->state.lease_until.has_value(), expiry.kind != golden::Expiry::Kind::none);
    }

    void check_list(std::string const& service) {
        std::vector<ServiceInstance> expected;
        for (auto const& id : ids(service)) {
            if (is_stored(id)) expected.push_back(stored_instance(state, id).value());
        }
        std::vector<ServiceInstance> found;
        for (auto const& one : discovery.instances(recorded_ns, service)) {
            found.push_back(one.instance);
        }
        EXPECT_EQ(found, expected);
    }

    /// What must be announced when all services are read once.
    std::vector<Listener::Message> expired() const {
        std::vector<Listener::Message> messages;
        for (auto const& service : members(recorded_ns + ":svc_idx")) {
            for (auto const& id : ids(service)) {
                if (!is_stored(id)) messages.push_back({instance_key(id), "expired"});
            }
        }
        return messages;
    }

    void check_counts() {
        long long total = 0;
        for (auto const& service : members(recorded_ns + ":svc_idx")) {
            for (auto const& id : ids(service)) total += is_stored(id) ? 1 : 0;
        }
        EXPECT_EQ(statistic.instance_count(recorded_ns), total);
        std::map<std::string, std::string> stats;
        for (auto const& stat : statistic.service_stats(recorded_ns)) {
            stats[stat.service_name] = std::to_string(stat.instance_count);
        }
        EXPECT_EQ(stats, fields(recorded_ns + ":svc_stat"));
        EXPECT_EQ(statistic.count_service(recorded_ns), static_cast<long long>(stats.size()));
    }

    LogBook log;
    RedisServer server;
    RedisClient redis;
    Listener listener;
    Client client;
    RedisServiceDiscovery discovery{client};
    RedisServiceStatistic statistic{client};
    golden::LiveKeys state;
};

TEST_F(ForeignNamespaces, AreReadAndCountedAfterEveryStep) {
    RedisNamespaceService namespaces{client};
    for (auto const& file : golden::recordings_of("cosky")) {
        auto const recording = golden::load_recording(file);
        for (std::size_t i = 0; i < recording.steps.size(); ++i) {
            SCOPED_TRACE(file + ", after " + recording.steps[i].name);
            load_after(recording, i);
            EXPECT_THAT(namespaces.namespaces(),
                        testing::ElementsAreArray(members("cosky-{system}:ns_idx")));
            auto const services = members(recorded_ns + ":svc_idx");
            EXPECT_THAT(discovery.services(recorded_ns), testing::ElementsAreArray(services));
            for (auto const& service : services) {
                SCOPED_TRACE(service);
                check_list(service);
                for (auto const& id : ids(service)) check_instance(service, id);
            }
            check_counts();
            EXPECT_EQ(listener.drain(), expired());
        }
    }
    EXPECT_FALSE(log.has("left out"));
}

TEST_F(ForeignNamespaces, KeepEveryByteOfMetadata) {
    load_after("cosky-register.txt", "register https, unicode and special values");
    auto const found = discovery.instances(recorded_ns, "pay");
    ASSERT_EQ(found.size(), 1U);
    EXPECT_THAT(found[0].instance.metadata,
                ElementsAre(Pair("", "empty key"), Pair("a__b", "kept"), Pair("ctl", "\x01\n\"\\/"),
                            Pair("u", "\xc3\xa9\xe4\xb8\xad\xf0\x9f\x98\x80")));
    EXPECT_TRUE(is_secure(found[0].instance));
}

TEST_F(ForeignNamespaces, LoseTheirExpiredToWhoeverLooksFirst) {
    auto const leftover = [&] {
        load_after("cosky-expiry.txt", "(2 s later: hash gone, index keeps the id, no message)");
        ASSERT_THAT(ids("order"), ElementsAre(first_id, second_id));
    };
    auto const announced = ElementsAre(Listener::Message{instance_key(first_id), "expired"});
    auto const is_cleaned = [&] {
        EXPECT_THAT(listener.drain(), announced);
        auto const left = golden::read(redis);
        EXPECT_THAT(left.at(recorded_ns + ":svc_itc_idx:order").members, ElementsAre(second_id));
    };
    leftover();
    EXPECT_EQ(discovery.instances(recorded_ns, "order").size(), 1U);
    is_cleaned();
    leftover();
    EXPECT_FALSE(discovery.instance(recorded_ns, "order", first_id));
    is_cleaned();
    leftover();
    EXPECT_EQ(discovery.instance_ttl(recorded_ns, "order", first_id), -2);
    is_cleaned();
    leftover();
    EXPECT_EQ(statistic.instance_count(recorded_ns), 1);
    is_cleaned();
    leftover();
    statistic.stat_service(recorded_ns, "order");
    is_cleaned();
    EXPECT_THAT(statistic.service_stats(recorded_ns), ElementsAre(ServiceStat{"order", 1}));
}

TEST_F(ForeignNamespaces, ListAnInstanceInItsLastHalfSecond) {
    std::vector<DiscoveredInstance> found;
    // Unless the machine stood still until it was gone.
    auto const in_time = [&] {
        load_after("cosky-expiry.txt", "half second before expiry");
        auto const end = golden::redis_time(redis) + 450;
        redis.must({"PEXPIREAT", instance_key(second_id), std::to_string(end)});
        state[instance_key(second_id)].expiry = golden::Expiry::at(end);
        found = discovery.instances(recorded_ns, "order");
        return golden::redis_time(redis) < end;
    };
    ASSERT_TRUE(rollcall::test::eventually(in_time));
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].instance, stored_instance(state, second_id));
    EXPECT_TRUE(golden::is_end_of_lease(std::to_string(found[0].ttl_at),
                                        state.at(instance_key(second_id)).expiry.value));
    EXPECT_LE(found[0].state.lease_until.value(),
              std::chrono::steady_clock::now() + std::chrono::milliseconds{450});
}

/// Edges that a process wrote which never set its namespace.
TEST_F(ForeignNamespaces, MayBeUntagged) {
    load_after("cosky-expiry.txt", "topology_add via subscription (no own instance)");
    RedisServiceTopology topology{client};
    EXPECT_THAT(topology.topology("cosky"),
                ElementsAre(Pair("_Client_", ElementsAre("cosky-{default}.order"))));
    EXPECT_THAT(topology.topology(recorded_ns), IsEmpty());
}

/// What a renewal of the recorded program leaves when it is given no TTL: a Hash with its own
/// field alone, for ever, which makes every read of the service fail there.
class ForeignHeadlessHash : public ForeignNamespaces {
protected:
    ForeignHeadlessHash() {
        load_after("cosky-expiry.txt", "register with ttl 1");
        redis.must({"DEL", instance_key(first_id)});
        redis.must({"HSET", instance_key(first_id), "__last_renew_pub_ttl_at", "1760000000"});
    }
};

TEST_F(ForeignHeadlessHash, IsLeftOutOfReads) {
    auto const found = discovery.instances(recorded_ns, "order");
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].instance.instance_id, second_id);
    EXPECT_TRUE(log.has("left out " + first_id));
    EXPECT_FALSE(discovery.instance(recorded_ns, "order", first_id));
    EXPECT_EQ(discovery.instance_ttl(recorded_ns, "order", first_id), TTL_AT_FOREVER) << "4.7";
    EXPECT_THAT(listener.drain(), IsEmpty());
}

TEST_F(ForeignHeadlessHash, IsMadeAnInstanceByARegistrationOrRenewalOfItsOwner) {
    RedisServiceRegistry registry{client};
    auto const owned = stored_instance(state, first_id).value();
    EXPECT_FALSE(registry.set_metadata(recorded_ns, "order", first_id, "k", "v"));
    EXPECT_TRUE(registry.renew(recorded_ns, owned));
    EXPECT_EQ(discovery.instances(recorded_ns, "order").size(), 2U);
    EXPECT_EQ(discovery.instance(recorded_ns, "order", first_id)->instance, owned);
    EXPECT_THAT(listener.drain(),
                ElementsAre(Listener::Message{instance_key(first_id), "register"}));
}

TEST_F(ForeignHeadlessHash, IsRemovedByADeregistration) {
    RedisServiceRegistry registry{client};
    EXPECT_TRUE(registry.deregister(recorded_ns, "order", first_id));
    EXPECT_FALSE(golden::read(redis).contains(instance_key(first_id)));
}

/// Fields that other programs have put beside the recorded ones.
TEST_F(ForeignNamespaces, MayHoldFieldsThatNobodyKnows) {
    load_after("cosky-register.txt", "renew, window exceeded");
    auto const key = instance_key(first_id);
    redis.must({"HSET", key, "ttl_at", "5", "unknown", "x", "__more", "y"});
    auto const found = discovery.instance(recorded_ns, "order", first_id);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->instance, stored_instance(state, first_id));
    EXPECT_TRUE(golden::is_end_of_lease(std::to_string(found->ttl_at), state.at(key).expiry.value));
    redis.must({"PERSIST", key});
    redis.must({"HDEL", key, "ttl_at"});
    // Ephemeral without a lease: about to expire, whatever a peer may have meant. Its key is not.
    EXPECT_EQ(discovery.instance(recorded_ns, "order", first_id)->ttl_at, 0);
    EXPECT_EQ(discovery.instance_ttl(recorded_ns, "order", first_id), TTL_AT_FOREVER) << "4.7";
    EXPECT_EQ(discovery.instances(recorded_ns, "order").size(), 2U);
}

}  // namespace
}  // namespace rollcall::cosky::test
