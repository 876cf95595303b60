// The layout behind the neutral port, its sweep and its examination.

#include <algorithm>
#include <gmock/gmock.h>
#include <thread>

#include "cosky/cosky_port.hpp"
#include "integration/cosky/fixture.hpp"
#include "redis/client_core.hpp"
#include "registry/sweeper.hpp"
#include "support/round_trips.hpp"

namespace rollcall::cosky::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class Port : public CoskyTest {
protected:
    std::string key(std::string const& of) { return DiscoveryKeyGenerator::instance_key(ns, of); }

    template <class Make>
    auto run(Make make) {
        return client.core()->run(make);
    }
    Written add(ServiceInstance const& instance) {
        return run([&] { return port->register_instance(instance, after(5s)); }).value();
    }
    std::vector<std::string> listed(Query const& query) {
        std::vector<std::string> ids;
        for (auto const& found : run([&] { return port->instances(query, after(5s)); }).value()) {
            ids.push_back(found.instance.instance_id);
        }
        return ids;
    }
    std::vector<Finding> examine(bool fix) {
        return run([&] { return port->examine(fix, after(5s)); }).value();
    }
    static std::vector<std::string> topics(std::vector<Finding> const& findings) {
        std::vector<std::string> result;
        for (auto const& finding : findings) result.push_back(finding.topic);
        return result;
    }

    std::unique_ptr<LayoutPort> port = make_cosky_port(client.core(), {});
    std::string const id = id_of("order");
    InstanceId const names{"order", id_of("order")};
};

TEST_F(Port, RegistersAndTellsWhetherItWasThere) {
    EXPECT_FALSE(add(an_instance("order")).existed);
    EXPECT_TRUE(add(an_instance("order")).existed);
    auto const found = run([&] { return port->instance(names, after(5s)); }).value();
    ASSERT_TRUE(found);
    EXPECT_LE(*found->lease, 60s);
    EXPECT_GT(*found->lease, 58s);
    EXPECT_FALSE(found->state.registered_at);
    EXPECT_TRUE(run([&] { return port->deregister_instance(names, after(5s)); }).value().existed);
    EXPECT_FALSE(run([&] { return port->deregister_instance(names, after(5s)); }).value().existed);
}

TEST_F(Port, HeartbeatsTellWhatIsGone) {
    add(an_instance("order"));
    auto fixed = an_instance("order", 81);
    fixed.ephemeral = false;
    add(fixed);
    std::vector<InstanceId> ids{
        names, {"order", "order@http#h#9"}, {"", ""}, {"order", id_of("order", 81)}};
    for (int i = 0; i < 200; ++i) ids.push_back({"order", "order@http#h#" + std::to_string(i)});
    ids.push_back(names);
    redis().must({"PEXPIRE", key(id), "20000"});
    auto const beats = run([&] { return port->heartbeat(ids, after(5s)); }).value();
    ASSERT_EQ(beats.size(), ids.size());
    EXPECT_EQ(beats[0], Liveness::alive);
    EXPECT_EQ(beats[1], Liveness::gone);
    EXPECT_EQ(beats[2], Liveness::failed);
    EXPECT_EQ(beats[3], Liveness::persistent);
    EXPECT_EQ(beats[100], Liveness::gone);
    EXPECT_EQ(beats.back(), Liveness::alive);
    EXPECT_EQ(ttl(id), 60);
}

TEST_F(Port, HeartbeatsTellWhatIsNoInstance) {
    redis().must({"SET", key(id_of("order", 81)), "text"});
    redis().must({"RPUSH", key(id_of("order", 82)), "text"});
    redis().must({"SET", key(id_of("order", 83)), "text", "EX", "50"});
    redis().must({"HSET", key(id_of("order", 84)), "__last_renew_pub_ttl_at", "5"});
    auto const list = DiscoveryKeyGenerator::instance_idx_key(ns, "order");
    for (int const number : {85, 86}) {
        auto fixed = an_instance("order", number);
        fixed.ephemeral = number == 86;
        add(fixed);
        redis().must({"SREM", list, id_of("order", number)});
    }
    std::vector<InstanceId> ids;
    for (int number = 81; number <= 86; ++number) ids.push_back({"order", id_of("order", number)});
    auto const beats = run([&] { return port->heartbeat(ids, after(5s)); }).value();
    EXPECT_THAT(beats, ElementsAre(Liveness::refused, Liveness::refused, Liveness::refused,
                                   Liveness::gone, Liveness::gone, Liveness::gone));
    EXPECT_TRUE(log.has("has another type"));
}

TEST_F(Port, WhatIsAskedOfAnotherServiceIsNotThere) {
    add(an_instance("order"));
    add(an_instance("web"));
    // A stray member of another list does not make it one of that service.
    redis().must({"SADD", DiscoveryKeyGenerator::instance_idx_key(ns, "web"), id});
    heard();
    for (auto const* service : {"other", "web"}) {
        InstanceId const wrong{service, id};
        std::vector<InstanceId> const ids{wrong};
        EXPECT_THAT(run([&] { return port->heartbeat(ids, after(5s)); }).value(),
                    ElementsAre(Liveness::gone));
        EXPECT_FALSE(run([&] { return port->set_weight(wrong, 7, after(5s)); }).value().existed);
        Metadata const metadata{{"x", "1"}};
        EXPECT_FALSE(
            run([&] { return port->set_metadata(wrong, metadata, after(5s)); }).value().existed);
        EXPECT_FALSE(
            run([&] { return port->merge_metadata(wrong, metadata, after(5s)); }).value().existed);
    }
    EXPECT_EQ(field(id, "weight"), "1");
    EXPECT_EQ(field(id, "_x"), "");
    EXPECT_THAT(heard(), testing::IsEmpty());
}

TEST_F(Port, AHeartbeatListsADroppedServiceAgain) {
    auto fixed = an_instance("web", 81);
    fixed.ephemeral = false;
    add(an_instance("order"));
    add(fixed);
    redis().must({"DEL", DiscoveryKeyGenerator::service_idx_key(ns)});
    heard();
    std::vector<InstanceId> const ids{names, {"web", id_of("web", 81)}};
    EXPECT_THAT(run([&] { return port->heartbeat(ids, after(5s)); }).value(),
                ElementsAre(Liveness::alive, Liveness::persistent));
    auto services = redis().must({"SMEMBERS", DiscoveryKeyGenerator::service_idx_key(ns)}).texts();
    EXPECT_THAT(services, testing::UnorderedElementsAre("order", "web"));
    EXPECT_THAT(heard(), ElementsAre("svc_idx ← set", "svc_idx ← set"));

    // What stands in the way of that is no reason not to renew.
    redis().must({"SET", DiscoveryKeyGenerator::service_idx_key(ns), "text"});
    EXPECT_THAT(run([&] { return port->heartbeat(ids, after(5s)); }).value(),
                ElementsAre(Liveness::alive, Liveness::persistent));
}

TEST_F(Port, MergedMetadataKeepsTheLimitsOfAll) {
    add(an_instance("order"));
    auto const merge = [&](Metadata const& metadata) {
        return run([&] { return port->merge_metadata(names, metadata, after(5s)); });
    };
    auto const merge_one = [&](std::string const& name, std::string const& value) {
        Metadata metadata;
        metadata[name] = value;
        return merge(metadata);
    };
    auto const many = [](std::size_t count, std::string const& prefix) {
        Metadata metadata;
        for (std::size_t i = 0; i < count; ++i) metadata[prefix + std::to_string(i)] = "";
        return metadata;
    };
    auto const fields = [&] { return redis().must({"HLEN", key(id)}).integer; };
    EXPECT_TRUE(merge(many(6'000, "a")));
    EXPECT_TRUE(merge(many(6'000, "a"))) << "the same again";
    auto const before = fields();
    heard();
    auto const refused = merge(many(6'000, "b"));
    ASSERT_TRUE(refused.has_error());
    EXPECT_EQ(refused.error().code(), errc::unexpected_reply);
    EXPECT_THAT(std::string{refused.error().detail()}, HasSubstr("12000 pairs"));
    EXPECT_EQ(fields(), before);
    EXPECT_THAT(heard(), testing::IsEmpty());
    EXPECT_TRUE(merge(many(4'000, "c")));
    EXPECT_FALSE(merge_one("one", "more"));

    Metadata const none;
    EXPECT_TRUE(run([&] { return port->set_metadata(names, none, after(5s)); }));
    EXPECT_TRUE(merge_one("big", std::string(64 * 1'024 - 3, 'x')));
    EXPECT_FALSE(merge_one("x", ""));
    EXPECT_TRUE(merge_one("big", "small"));
    // A peer may have stored more: what does not add to it is taken.
    redis().must({"HSET", key(id), "_peer", std::string(70'000, 'x')});
    EXPECT_FALSE(merge_one("y", "1"));
    EXPECT_TRUE(merge_one("big", "a"));
    EXPECT_TRUE(run([&] { return port->set_weight(names, 7, after(5s)); }).value().existed);
}

TEST_F(Port, ConditionsAreEvaluatedHere) {
    auto a = an_instance("order", 80);
    a.metadata = {{"region", "eu"}, {"weight", "10"}};
    auto b = an_instance("order", 81);
    b.metadata = {{"region", "us"}, {"weight", "9"}};
    add(a);
    add(b);
    add(an_instance("order", 82));
    Query query;
    query.service = "order";
    EXPECT_EQ(listed(query).size(), 3u);
    query.metadata = {Condition::parse("--where", "region==eu")};
    EXPECT_THAT(listed(query), ElementsAre(id_of("order", 80)));
    query.metadata = {Condition::parse("--where", "weight>=9")};
    EXPECT_EQ(listed(query).size(), 2u) << "as numbers, and a missing field never matches";
    query.metadata.push_back(Condition::parse("--where", "region!=eu"));
    EXPECT_THAT(listed(query), ElementsAre(id_of("order", 81)));
    query.metadata.clear();
    query.metrics = {Condition::parse("--metric", "cpu<80")};
    EXPECT_EQ(run([&] { return port->instances(query, after(5s)); }).error().code(),
              errc::not_supported);
}

TEST_F(Port, WhatTheLayoutCannotStoreIsSaid) {
    add(an_instance("order"));
    auto const disabled = run([&] { return port->set_enabled(names, false, after(5s)); });
    EXPECT_EQ(disabled.error().code(), errc::not_supported);
    auto const unwell = run([&] { return port->set_healthy(names, false, after(5s)); });
    EXPECT_EQ(unwell.error().code(), errc::not_supported);
}

TEST_F(Port, WeightIsGuardedAndAnnounced) {
    add(an_instance("order"));
    redis().must({"EXPIRE", key(id), "30"});
    heard();
    EXPECT_TRUE(run([&] { return port->set_weight(names, 7, after(5s)); }).value().existed);
    EXPECT_EQ(field(id, "weight"), "7");
    EXPECT_EQ(ttl(id), 30);
    EXPECT_THAT(heard(), ElementsAre("svc_itc:" + id + " ← set_metadata"));
    InstanceId const nobody{"order", "order@http#h#9"};
    EXPECT_FALSE(run([&] { return port->set_weight(nobody, 7, after(5s)); }).value().existed);
    EXPECT_EQ(redis().must({"EXISTS", key(nobody.id)}).integer, 0);
}

TEST_F(Port, ServicesAreCountedByWhatLives) {
    add(an_instance("order", 80));
    add(an_instance("order", 81));
    add(an_instance("web", 82));
    redis().must({"DEL", key(id_of("order", 81))});
    auto const services = run([&] { return port->services(after(5s)); }).value();
    ASSERT_EQ(services.size(), 2u);
    EXPECT_EQ(services[0].service, "order");
    EXPECT_EQ(services[0].instances, 1u);
    EXPECT_EQ(services[1].instances, 1u);
}

TEST_F(Port, TheSweepAnnouncesWhatNobodyReads) {
    add(an_instance("order", 80));
    add(an_instance("web", 82));
    redis().must({"DEL", key(id)});
    redis().must({"SET", DiscoveryKeyGenerator::instance_idx_key(ns, "broken"), "x"});
    redis().must({"SADD", DiscoveryKeyGenerator::service_idx_key(ns), "broken"});
    heard();
    auto const report = run([&] { return port->sweep(after(5s)); }).value();
    ASSERT_EQ(report.services.size(), 2u);
    EXPECT_EQ(report.services[0].service, "broken");
    EXPECT_TRUE(report.services[0].failure);
    EXPECT_THAT(report.services[1].removed, ElementsAre(id));
    EXPECT_THAT(heard(), ElementsAre("svc_itc:" + id + " ← expired"));
}

TEST_F(Port, ASweepOfManyServicesIsFewRoundTrips) {
    for (int i = 0; i < 400; ++i) {
        auto const name = "s" + std::to_string(i);
        redis().must({"SADD", DiscoveryKeyGenerator::service_idx_key(ns), name});
        redis().must({"SADD", DiscoveryKeyGenerator::instance_idx_key(ns, name), id_of(name)});
        if (i % 2 == 0) redis().must({"HSET", key(id_of(name)), "serviceId", name});
    }
    rollcall::test::RoundTrips counted{server()};
    auto const far = connect_to(counted.url());
    auto const there = make_cosky_port(far, {});
    far->run([&] { return there->services(after(5s)); }).value();
    SweepReport report;
    auto const sweep = [&] { report = far->run([&] { return there->sweep(after(10s)); }).value(); };
    EXPECT_LE(counted.of(sweep), 5) << "one for scripts that were not known yet";
    EXPECT_EQ(report.services.size(), 200u);
    for (auto const& service : report.services) EXPECT_FALSE(service.failure) << service.service;
}

TEST_F(Port, ASweepWithoutTimeSaysSoAndTheNextGoesOnBehindIt) {
    std::vector<std::string> command{"SADD", DiscoveryKeyGenerator::service_idx_key(ns)};
    for (int i = 0; i < 9'000; ++i) command.push_back("s" + std::to_string(i));
    command.emplace_back("zzz");
    redis().must(command);
    redis().must({"SADD", DiscoveryKeyGenerator::instance_idx_key(ns, "zzz"), id_of("zzz")});
    rollcall::test::RoundTrips counted{server()};  // At least 60 ms each.
    auto const far = connect_to(counted.url());
    auto const there = make_cosky_port(far, {});
    far->run([&] { return there->services(after(5s)); }).value();
    auto const list = DiscoveryKeyGenerator::instance_idx_key(ns, "zzz");
    auto const sweep = [&] {
        auto const swept = far->run([&] { return there->sweep(after(450ms)); });
        bool const listed = redis().must({"EXISTS", list}).integer == 1;
        if (!listed || !swept.has_value()) return !listed;
        auto const said = std::ranges::find(swept->services, "zzz", &SweepReport::Service::service);
        if (said == swept->services.end()) {
            ADD_FAILURE() << "nothing was said of it";
        } else {
            EXPECT_EQ(said->failure.value().code(), errc::timeout);
        }
        return false;
    };
    EXPECT_FALSE(sweep()) << "so that this test sees it";
    EXPECT_TRUE(eventually([&] { return sweep(); }));
}

TEST_F(Port, EachExpiryIsAnnouncedOnceHoweverManySweep) {
    for (int i = 0; i < 500; ++i) {
        add(an_instance("s" + std::to_string(i % 5), 1'000 + i));
        redis().must({"DEL", key(id_of("s" + std::to_string(i % 5), 1'000 + i))});
    }
    heard();
    std::vector<std::thread> threads;
    for (int t = 0; t < 3; ++t) {
        threads.emplace_back([&] {
            Client other{server().url()};
            auto const by = make_cosky_port(other.core(), {});
            ASSERT_TRUE(other.core()->run([&] { return by->sweep(after(5s)); }));
        });
    }
    for (auto& thread : threads) thread.join();
    auto messages = heard();
    EXPECT_EQ(messages.size(), 500u);
    std::ranges::sort(messages);
    EXPECT_EQ(std::ranges::adjacent_find(messages), messages.end());
}

TEST_F(Port, OneProcessSweepsANamespace) {
    auto const key = ns + ":rollcall:sweep";
    Sweeper sweeper{client.core(), make_cosky_port(client.core(), {}), {1ms, 10ms}};
    sweeper.start();
    ASSERT_TRUE(eventually([&] { return redis().must({"EXISTS", key}).integer == 1; }));
    auto const other = run([&] { return port->sweep_as_leader(1s, after(5s)); }).value();
    EXPECT_FALSE(other.leader);
    sweeper.stop();
    EXPECT_EQ(redis().must({"EXISTS", key}).integer, 0);
}

TEST_F(Port, AForeignValueDoesNotStopTheSweepForGood) {
    auto const key = ns + ":rollcall:sweep";
    redis().must({"SET", key, "foreign"});
    auto const leads = [&] {
        return run([&] { return port->sweep_as_leader(1s, after(5s)); }).value().leader;
    };
    EXPECT_FALSE(leads());
    EXPECT_TRUE(eventually(leads));
    // A lease of another process is not cut short.
    redis().must({"SET", key, "other", "PX", "30000"});
    EXPECT_FALSE(leads());
    EXPECT_GT(redis().must({"PTTL", key}).integer, 20'000);
}

TEST_F(Port, DoctorFindsAndRepairs) {
    add(an_instance("order", 80));
    EXPECT_THAT(topics(examine(false)), ElementsAre("entries"));
    redis().must({"DEL", key(id)});
    redis().must({"HSET", key("stray@http#h#1"), "x", "1"});
    auto lost = an_instance("lost", 83);
    add(lost);
    redis().must({"SREM", DiscoveryKeyGenerator::service_idx_key(ns), "lost"});
    redis().must({"PERSIST", key(id_of("lost", 83))});
    redis().must({"HSET", DiscoveryKeyGenerator::service_stat_key(ns), "gone", "4"});
    redis().must({"SET", key("text@http#h#1"), "x"});
    auto const found = topics(examine(false));
    for (auto const* topic :
         {"wrong type", "undecodable", "expired", "orphan", "no TTL", "index", "count"}) {
        EXPECT_THAT(found, testing::Contains(topic));
    }
    auto const repaired = examine(true);
    EXPECT_GE(std::ranges::count_if(repaired, [](auto const& one) { return one.repaired; }), 3);
    auto const left = topics(examine(false));
    for (auto const* topic : {"expired", "index", "count"}) {
        EXPECT_THAT(left, testing::Not(testing::Contains(topic)));
    }
}

TEST_F(Port, DoctorTellsOfMissingHashTags) {
    auto const plain = make_cosky_port(client.core(), {.ns = "dev"});
    auto const found = run([&] { return plain->examine(false, after(5s)); }).value();
    EXPECT_THAT(topics(found), testing::Contains("hash tag"));
    EXPECT_THAT(found.back().text, HasSubstr("{dev}"));
}

TEST_F(Port, BadOptionsAreRefused) {
    EXPECT_THROW(make_cosky_port(client.core(), {.ns = "a:b"}), std::invalid_argument);
    EXPECT_THROW(make_cosky_port(client.core(), {.lease = 500ms}), std::invalid_argument);
    EXPECT_THROW(make_cosky_port(client.core(), {.lease = 5s, .heartbeat = 5s}),
                 std::invalid_argument);
}

}  // namespace
}  // namespace rollcall::cosky::test
