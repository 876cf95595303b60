// The discovery that answers from memory: the faults of the design's absent.

#include <atomic>
#include <gmock/gmock.h>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "integration/cosky/fixture.hpp"

namespace rollcall::cosky::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> ids_of(DiscoveredInstances const& found) {
    std::vector<std::string> ids;
    for (auto const& one : found) ids.push_back(one.instance.instance_id);
    return ids;
}

class Consistency : public CoskyTest {
protected:
    void SetUp() override {
        CoskyTest::SetUp();
        // As whoever keeps instances registered writes it: absence proves something.
        redis().must({"SET", ns + ":rollcall:epoch", "an epoch"});
    }

    std::vector<std::string> ids(std::string const& service = "order") {
        return ids_of(discovery.instances(ns, service));
    }
    bool soon(std::vector<std::string> const& expected, std::string const& service = "order") {
        return eventually([&] { return ids(service) == expected; });
    }
    /// Messages with this payload since the last look.
    std::vector<std::string> heard(std::string const& payload) {
        auto all = CoskyTest::heard();
        std::erase_if(all, [&](auto const& line) { return !line.ends_with(payload); });
        return all;
    }
    std::string key(std::string const& id) { return DiscoveryKeyGenerator::instance_key(ns, id); }
    long long commands(std::string const& name) { return command_stat(redis(), name, "calls"); }
    static ServiceInstance persistent(std::string service, int port = 80) {
        auto result = an_instance(std::move(service), port);
        result.ephemeral = false;
        return result;
    }

    static RegistryProperties one_second() {
        RegistryProperties properties;
        properties.instance_ttl = 1s;
        return properties;
    }

    RedisServiceRegistry registry{client};
    RedisServiceRegistry brief{client, one_second()};
    ConsistencyRedisServiceDiscovery discovery{client, nullptr};
};

TEST_F(Consistency, AnswersFromMemoryWhatItHasLoaded) {
    auto described = an_instance("order");
    described.metadata = {{"zone", "a"}};
    described.weight = 3;
    registry.register_instance(ns, described);
    auto const first = discovery.instances(ns, "order");
    ASSERT_THAT(ids_of(first), ElementsAre(id_of("order")));
    EXPECT_EQ(first[0].instance, RedisServiceDiscovery{client}.instances(ns, "order")[0].instance);
    EXPECT_THAT(discovery.services(ns), ElementsAre("order"));
    auto const before = commands("hgetall") + commands("smembers") + commands("pttl");
    for (int i = 0; i < 100; ++i) {
        discovery.instances(ns, "order");
        discovery.services(ns);
        discovery.instance(ns, "order", id_of("order"));
        discovery.instance_ttl(ns, "order", id_of("order"));
    }
    EXPECT_EQ(commands("hgetall") + commands("smembers") + commands("pttl"), before);
}

TEST_F(Consistency, FollowsEveryEvent) {
    EXPECT_THAT(ids(), IsEmpty());
    registry.register_instance(ns, an_instance("order", 80));
    registry.register_instance(ns, an_instance("order", 81));
    EXPECT_TRUE(soon({id_of("order", 80), id_of("order", 81)}));
    registry.set_metadata(ns, "order", id_of("order", 80), "zone", "b");
    EXPECT_TRUE(eventually([&] {
        return discovery.instances(ns, "order").at(0).instance.metadata == Metadata{{"zone", "b"}};
    }));
    registry.deregister(ns, an_instance("order", 80));
    EXPECT_TRUE(soon({id_of("order", 81)}));
    brief.register_instance(ns, an_instance("order", 82));
    EXPECT_TRUE(soon({id_of("order", 81), id_of("order", 82)}));
    EXPECT_TRUE(soon({id_of("order", 81)})) << "its lease ended";
    EXPECT_TRUE(eventually([&] { return !heard("expired").empty(); })) << "and it was cleaned up";
}

TEST_F(Consistency, FollowsTheListOfServices) {
    EXPECT_THAT(discovery.services(ns), IsEmpty());
    auto const shows = [&](std::vector<std::string> const& names) {
        return eventually([&] { return discovery.services(ns) == names; });
    };
    registry.set_service(ns, "web");
    EXPECT_TRUE(shows({"web"}));
    registry.register_instance(ns, an_instance("order"));
    EXPECT_TRUE(shows({"order", "web"}));
    registry.remove_service(ns, "web");
    EXPECT_TRUE(shows({"order"}));
    redis().must({"SADD", DiscoveryKeyGenerator::service_idx_key(ns), "silent"});
    EXPECT_TRUE(shows({"order", "silent"})) << "nothing is published of that";
    redis().must({"FLUSHALL"});
    EXPECT_TRUE(shows({}));
}

TEST_F(Consistency, Defect33_WhatIsRegisteredRightAfterTheFirstReadIsSeen) {
    for (int round = 0; round < 50; ++round) {
        auto const service = "s" + std::to_string(round);
        EXPECT_THAT(ids(service), IsEmpty());
        registry.register_instance(ns, persistent(service));
        EXPECT_TRUE(soon({id_of(service)}, service)) << round;
    }
}

TEST_F(Consistency, Defect34_WhatWasMissedWithAConnectionIsSeen) {
    registry.register_instance(ns, persistent("order", 80));
    ASSERT_THAT(ids(), ElementsAre(id_of("order", 80)));
    discovery.services(ns);
    // In one step, so that nobody is connected.
    redis().must({"MULTI"});
    redis().must({"CLIENT", "KILL", "TYPE", "pubsub"});
    redis().must({"SREM", DiscoveryKeyGenerator::instance_idx_key(ns, "order"), id_of("order")});
    redis().must({"DEL", key(id_of("order"))});
    redis().must({"SADD", DiscoveryKeyGenerator::service_idx_key(ns), "late"});
    redis().must({"EXEC"});
    listener = Listener{server()};
    EXPECT_TRUE(eventually([&] {
        auto const names = discovery.services(ns);
        return names == std::vector<std::string>{"late", "order"};
    }));
    registry.register_instance(ns, persistent("order", 81));
    EXPECT_TRUE(soon({id_of("order", 81)}));
}

TEST_F(Consistency, Defect35_WhatIsAtOnceDeregisteredDoesNotStay) {
    ids();
    for (int i = 1; i <= 200; ++i) {
        registry.register_instance(ns, persistent("order", i));
        registry.deregister(ns, persistent("order", i));
    }
    registry.register_instance(ns, persistent("order", 999));
    EXPECT_TRUE(soon({id_of("order", 999)}));
}

TEST_F(Consistency, Defect36_AFailureIsToldAndNotRemembered) {
    RedisServer own;
    ClientOptions hasty;
    hasty.url = own.url();
    hasty.request_timeout = 200ms;
    Client other{hasty};
    ConsistencyRedisServiceDiscovery cached{other, nullptr};
    own.kill();
    std::error_code error;
    EXPECT_THAT(cached.instances(ns, "order", error), IsEmpty());
    EXPECT_TRUE(error);
    EXPECT_THAT(cached.services(ns, error), IsEmpty());
    EXPECT_TRUE(error);
    EXPECT_THROW(cached.instances(ns, "order"), Error);
    own.start();
    EXPECT_TRUE(eventually([&] {
        cached.instances(ns, "order", error);
        if (error) return false;
        cached.services(ns, error);
        return !error;
    }));
    own.kill();
    EXPECT_THAT(cached.instances(ns, "order"), IsEmpty()) << "as it was last known";
    EXPECT_THAT(cached.services(ns), IsEmpty());
}

TEST_F(Consistency, Defect37_AnInstanceThatChangesIsThereAllTheTime) {
    registry.register_instance(ns, an_instance("order"));
    ASSERT_THAT(ids(), ElementsAre(id_of("order")));
    std::atomic<bool> done = false;
    std::atomic<int> gaps = 0;
    std::thread reader{[&] {
        while (!done) gaps += discovery.instances(ns, "order").size() == 1 ? 0 : 1;
    }};
    for (int i = 0; i < 300; ++i) {
        registry.set_metadata(ns, "order", id_of("order"), "n", std::to_string(i));
    }
    done = true;
    reader.join();
    EXPECT_EQ(gaps, 0);
}

TEST_F(Consistency, Defect38_LeasesAreThoseOfRedisClock) {
    registry.register_instance(ns, an_instance("order", 80));
    registry.register_instance(ns, persistent("order", 81));
    auto const found = discovery.instances(ns, "order");
    ASSERT_EQ(found.size(), 2u);
    auto const expected = redis_seconds() + ttl(id_of("order", 80));
    EXPECT_NEAR(static_cast<double>(found[0].ttl_at), static_cast<double>(expected), 1.01);
    EXPECT_TRUE(found[0].state.lease_until);
    EXPECT_EQ(found[1].ttl_at, TTL_AT_FOREVER);
    EXPECT_FALSE(found[1].state.lease_until);
    EXPECT_EQ(discovery.instance_ttl(ns, "order", id_of("order", 81)), TTL_AT_FOREVER);
}

TEST_F(Consistency, Defect39_NothingExpiredIsGiven) {
    brief.register_instance(ns, an_instance("order", 80));
    ASSERT_THAT(ids(), ElementsAre(id_of("order", 80)));
    EXPECT_GE(discovery.instance_ttl(ns, "order", id_of("order", 80)), redis_seconds());
    EXPECT_TRUE(eventually([&] { return !discovery.instance(ns, "order", id_of("order", 80)); }));
    EXPECT_EQ(discovery.instance_ttl(ns, "order", id_of("order", 80)), -2);
    EXPECT_THAT(ids(), IsEmpty());
}

TEST_F(Consistency, Defect40_WhatIsRenewedStaysAndItsEndIsThatOfALease) {
    brief.register_instance(ns, an_instance("order"));
    ASSERT_THAT(ids(), ElementsAre(id_of("order")));
    auto const first = discovery.instance_ttl(ns, "order", id_of("order"));
    EXPECT_TRUE(eventually([&] {
        brief.renew(ns, an_instance("order"));
        EXPECT_THAT(ids(), ElementsAre(id_of("order")));
        auto const now = discovery.instance_ttl(ns, "order", id_of("order"));
        EXPECT_GE(now, first - 1);
        return now > first + 1;
    }));
    redis().must({"PERSIST", key(id_of("order"))});
    redis().must({"HSET", key(id_of("order")), "ephemeral", "false"});
    redis().must({"PUBLISH", key(id_of("order")), "register"});
    EXPECT_TRUE(eventually(
        [&] { return discovery.instance_ttl(ns, "order", id_of("order")) == TTL_AT_FOREVER; }));
}

TEST_F(Consistency, Defect41_WhatNobodyAsksForIsForgotten) {
    ConsistencyOptions options;
    options.unused_for = 50ms;
    ConsistencyRedisServiceDiscovery forgetful{client, nullptr, options};
    auto const patterns = [&] { return redis().must({"PUBSUB", "NUMPAT"}).integer; };
    auto const before = patterns();
    forgetful.instances(ns, "order");
    EXPECT_EQ(patterns(), before + 1);
    EXPECT_TRUE(eventually([&] { return patterns() == before; }));
}

TEST_F(Consistency, Defect41_BeyondItsLimitItAsksEachTime) {
    ConsistencyOptions options;
    options.max_services = 1;
    ConsistencyRedisServiceDiscovery small{client, nullptr, options};
    registry.register_instance(ns, an_instance("order"));
    registry.register_instance(ns, an_instance("web"));
    auto const patterns = redis().must({"PUBSUB", "NUMPAT"}).integer;
    for (int i = 0; i < 2; ++i) {
        EXPECT_THAT(ids_of(small.instances(ns, "order")), ElementsAre(id_of("order")));
        EXPECT_THAT(ids_of(small.instances(ns, "web")), ElementsAre(id_of("web")));
    }
    EXPECT_EQ(redis().must({"PUBSUB", "NUMPAT"}).integer, patterns + 1);
}

TEST_F(Consistency, SingleInstancesAreAskedForUnlessTheirServiceIsWatched) {
    registry.register_instance(ns, an_instance("order"));
    auto const patterns = redis().must({"PUBSUB", "NUMPAT"}).integer;
    ASSERT_TRUE(discovery.instance(ns, "order", id_of("order")));
    EXPECT_FALSE(discovery.instance(ns, "order", id_of("web")));
    EXPECT_GT(discovery.instance_ttl(ns, "order", id_of("order")), 0);
    EXPECT_EQ(discovery.instance_ttl(ns, "order", "none"), -2);
    EXPECT_EQ(redis().must({"PUBSUB", "NUMPAT"}).integer, patterns);
}

TEST_F(Consistency, RecordsTheServicesThatItWatches) {
    ConsistencyRedisServiceDiscovery recording{client};
    recording.instances(ns, "order");
    recording.instances(ns, "order");
    recording.instance(ns, "web", id_of("web"));
    EXPECT_TRUE(eventually([&] {
        return RedisServiceTopology{client}.topology(ns) == Topology{{"_Client_", {"order"}}};
    }));
}

TEST_F(Consistency, WorksWhereNobodyMayListen) {
    redis().must({"ACL", "SETUSER", "deaf", "on", ">pw", "~*", "resetchannels", "+@all"});
    Client poor{"unix://deaf:pw@" + server().socket()};
    ConsistencyRedisServiceDiscovery deaf{poor, nullptr};
    registry.register_instance(ns, an_instance("order"));
    EXPECT_THAT(ids_of(deaf.instances(ns, "order")), ElementsAre(id_of("order")));
    EXPECT_THAT(deaf.services(ns), ElementsAre("order"));
    registry.set_service(ns, "web");
    EXPECT_THAT(deaf.services(ns), ElementsAre("order", "web"));
}

/// The rights of docs/cosky-fleets.md.
TEST_F(Consistency, HearsOfOneServiceWhereOnlyAllMayBeListenedTo) {
    redis().must({"ACL", "SETUSER", "narrow", "on", ">pw", "~*", "resetchannels",
                  "&" + ns + ":svc_idx", "&" + ns + ":svc_itc:*", "+@all"});
    Client narrow{"unix://narrow:pw@" + server().socket()};
    ConsistencyRedisServiceDiscovery some{narrow, nullptr};
    EXPECT_THAT(some.instances(ns, "order"), IsEmpty());
    auto const reads = [&] { return commands("hgetall") + commands("smembers"); };
    registry.register_instance(ns, an_instance("order"));
    EXPECT_TRUE(eventually(
        [&] { return ids_of(some.instances(ns, "order")) == std::vector{id_of("order")}; }, 1s));
    auto const before = reads();
    registry.register_instance(ns, an_instance("web"));
    registry.set_metadata(ns, "order", id_of("order"), "zone", "a");
    EXPECT_TRUE(eventually([&] {
        return some.instances(ns, "order").at(0).instance.metadata == Metadata{{"zone", "a"}};
    }));
    EXPECT_EQ(reads(), before + 1) << "what happens to others is no reason to read";
}

TEST_F(Consistency, TheHookIsCalledBehindEachEvent) {
    struct Told {
        std::mutex mutex;
        std::vector<std::string> lines;
    };
    auto const told = std::make_shared<Told>();
    std::unique_ptr<ConsistencyRedisServiceDiscovery> hooked;
    ConsistencyOptions options;
    options.hook = [&, told](InstanceChangedEvent const& event) {
        auto const shown = hooked->instances(event.ns, event.service_name);
        std::lock_guard const lock{told->mutex};
        told->lines.push_back(std::string{to_payload(event.event)} + " " + event.instance_id + " " +
                              std::to_string(event.instance.port) + ": " +
                              std::to_string(shown.size()) + " of " + event.ns);
        if (told->lines.size() == 2) throw std::runtime_error{"a hook may throw"};
    };
    hooked = std::make_unique<ConsistencyRedisServiceDiscovery>(client, nullptr, options);
    EXPECT_THAT(hooked->instances(ns, "order"), IsEmpty());
    auto const id = id_of("order", 81);
    auto const soon_told = [&](std::vector<std::string> const& lines) {
        return eventually([&] {
            std::lock_guard const lock{told->mutex};
            return told->lines == lines;
        });
    };
    std::vector<std::string> expected;
    auto const expect = [&](std::string const& payload, int shown) {
        expected.push_back(payload + " " + id + " 81: " + std::to_string(shown) + " of " + ns);
        EXPECT_TRUE(soon_told(expected)) << payload;
    };
    registry.register_instance(ns, an_instance("order", 81));
    expect("register", 1);
    registry.set_metadata(ns, "order", id, "zone", "a");
    expect("set_metadata", 1);
    redis().must({"PUBLISH", key(id), "what is that?"});
    registry.register_instance(ns, an_instance("other"));
    registry.deregister(ns, "order", id);
    expect("deregister", 0);
    hooked.reset();
    registry.register_instance(ns, an_instance("order", 81));
    ASSERT_TRUE(soon({id}));
    EXPECT_TRUE(soon_told(expected)) << "nobody is called any more";
}

TEST_F(Consistency, BadNamesAndOptionsAreRefused) {
    EXPECT_THROW(discovery.instances("a:b", "order"), std::invalid_argument);
    EXPECT_THROW(discovery.instances(ns, " "), std::invalid_argument);
    EXPECT_THROW(discovery.services(""), std::invalid_argument);
    EXPECT_THROW(discovery.instance(ns, "order", ""), std::invalid_argument);
    ConsistencyOptions options;
    options.unused_for = -1ms;
    EXPECT_THROW((ConsistencyRedisServiceDiscovery{client, options}), std::invalid_argument);
    options = {};
    options.instance_ttl = 0ms;
    EXPECT_THROW((ConsistencyRedisServiceDiscovery{client, options}), std::invalid_argument);
    options = {};
    options.max_services = 1'000'000;
    EXPECT_THROW((ConsistencyRedisServiceDiscovery{client, options}), std::invalid_argument);
    options = {};
    options.reads.max_age = -1ms;
    EXPECT_THROW((ConsistencyRedisServiceDiscovery{client, options}), std::invalid_argument);
}

TEST_F(Consistency, TheNamespaceUnusedTheLongestMakesRoomForTheNext) {
    registry.register_instance(ns, an_instance("order"));
    registry.register_instance("{second}", an_instance("order"));
    auto const watched = [&](std::string const& of) {
        return !redis().must({"PUBSUB", "CHANNELS", of + ":svc_idx"}).elements.empty();
    };
    for (auto const* const of : {"cosky-{default}", "{second}"}) {
        ASSERT_EQ(discovery.services(of).size(), 1u);
        ASSERT_EQ(ids_of(discovery.instances(of, "order")).size(), 1u);
    }
    for (int i = 2; i < 1'000; ++i) discovery.services("{n" + std::to_string(i) + "}");
    ASSERT_TRUE(watched(ns));
    ASSERT_THAT(ids(), ElementsAre(id_of("order"))) << "used again: no longer the oldest";
    auto const before = commands("hgetall") + commands("smembers");
    discovery.instance("{never-watched}", "order", id_of("order"));
    EXPECT_TRUE(watched("{second}")) << "who only asks takes no room";
    discovery.services("{one-more}");
    EXPECT_TRUE(eventually([&] { return !watched("{second}"); }));
    EXPECT_TRUE(watched(ns));
    EXPECT_TRUE(watched("{one-more}"));
    auto const loaded = commands("hgetall") + commands("smembers");
    EXPECT_GT(loaded, before);
    discovery.services("{one-more}");
    ids();
    EXPECT_EQ(commands("hgetall") + commands("smembers"), loaded) << "answered from memory";
    EXPECT_EQ(discovery.services("{second}").size(), 1u) << "it comes back";
    EXPECT_EQ(ids_of(discovery.instances("{second}", "order")).size(), 1u);
}

TEST_F(Consistency, AForkedChildIsRefused) {
    auto own = std::make_unique<ConsistencyRedisServiceDiscovery>(client, nullptr);
    own->instances(ns, "order");
    own->services(ns);
    auto const child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        int wrong = 0;
        std::error_code error;
        own->instances(ns, "order", error);
        if (error != errc::closed) wrong |= 1;
        own->services(ns, error);
        if (error != errc::closed) wrong |= 2;
        own.reset();
        ::_exit(wrong);
    }
    int status = -1;
    ASSERT_TRUE(eventually([&] { return ::waitpid(child, &status, WNOHANG) == child; }));
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 0);
    registry.register_instance(ns, an_instance("order"));
    EXPECT_TRUE(eventually(
        [&] { return ids_of(own->instances(ns, "order")) == std::vector{id_of("order")}; }));
}

}  // namespace
}  // namespace rollcall::cosky::test
