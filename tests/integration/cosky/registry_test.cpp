#include <csignal>
#include <gmock/gmock.h>
#include <thread>

#include "cosky/scripts.hpp"
#include "integration/cosky/fixture.hpp"

namespace rollcall::cosky::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Messages = std::vector<std::string>;

class Registry : public CoskyTest {
protected:
    std::string key(std::string const& of) { return DiscoveryKeyGenerator::instance_key(ns, of); }
    bool listed(std::string const& service, std::string const& one) {
        return redis()
                   .must({"SISMEMBER", DiscoveryKeyGenerator::instance_idx_key(ns, service), one})
                   .integer == 1;
    }
    Metadata metadata_of(std::string const& one) {
        Metadata result;
        for (auto const& [name, value] : redis().must({"HGETALL", key(one)}).pairs()) {
            if (auto const label = ServiceInstanceCodec::decode_metadata_key(name)) {
                result.emplace(*label, value);
            }
        }
        return result;
    }
    std::vector<RenewedInstance> round() { return registry.renew_registered(10s); }

    RedisServiceRegistry registry{client};
    ServiceInstance const order = an_instance("order");
    std::string const id = id_of("order");
};

TEST_F(Registry, RegistersAndDeregisters) {
    EXPECT_TRUE(registry.register_instance(ns, order));
    EXPECT_THAT(heard(), ElementsAre("svc_idx ← set", "svc_itc:" + id + " ← register"));
    EXPECT_EQ(ttl(id), 60);
    EXPECT_THAT(registry.registered_ephemeral_instances(), testing::SizeIs(1));
    EXPECT_TRUE(registry.deregister(ns, order));
    EXPECT_THAT(heard(), ElementsAre("svc_itc:" + id + " ← deregister"));
    EXPECT_THAT(registry.registered_ephemeral_instances(), IsEmpty());
    EXPECT_FALSE(registry.deregister(ns, "order", id));
    EXPECT_THAT(heard(), IsEmpty());
}

TEST_F(Registry, PersistentInstancesHaveNoLeaseAndAreNotRenewed) {
    auto fixed = order;
    registry.register_instance(ns, order);
    fixed.ephemeral = false;
    EXPECT_TRUE(registry.register_instance(ns, fixed));
    EXPECT_EQ(ttl(id), -1);
    EXPECT_THAT(registry.registered_ephemeral_instances(), IsEmpty())
        << "spec 5: a former ephemeral one stops renewing";
    heard();
    EXPECT_FALSE(registry.renew(ns, fixed));
    EXPECT_THAT(heard(), IsEmpty());
}

TEST_F(Registry, Defect5_AndE3_MetadataMayBeMergedInsteadOfErased) {
    auto rich = order;
    rich.metadata = {{"zone", "a"}, {"version", "1"}};
    registry.register_instance(ns, rich);
    EXPECT_TRUE(registry.merge_metadata(ns, "order", id, {{"instance_status", "UP"}}));
    EXPECT_EQ(metadata_of(id),
              (Metadata{{"zone", "a"}, {"version", "1"}, {"instance_status", "UP"}}));
    EXPECT_TRUE(registry.set_metadata(ns, "order", id, "instance_status", "DOWN"));
    EXPECT_EQ(metadata_of(id), (Metadata{{"instance_status", "DOWN"}})) << "as the design's do";
    EXPECT_EQ(ttl(id), 60);
}

TEST_F(Registry, Defect7_MetadataKeysWithUnderscoresInsideAreReplacedToo) {
    auto odd = order;
    odd.metadata = {{"a__b", "old"}, {"", "empty"}};
    registry.register_instance(ns, odd);
    EXPECT_TRUE(registry.set_metadata(ns, "order", id, Metadata{{"c", "3"}}));
    EXPECT_EQ(metadata_of(id), (Metadata{{"c", "3"}}));
    registry.register_instance(ns, odd);
    registry.register_instance(ns, order);
    EXPECT_THAT(metadata_of(id), IsEmpty());
}

TEST_F(Registry, Defect8_RemovedFromTheListIsRemoved) {
    registry.register_instance(ns, order);
    redis().must({"DEL", key(id)});
    heard();
    EXPECT_TRUE(registry.deregister(ns, order));
    EXPECT_THAT(heard(), ElementsAre("svc_itc:" + id + " ← deregister"));
}

TEST_F(Registry, Defect9_ShortLeasesAreRefusedAndFractionsRoundedUp) {
    for (auto const wrong : {0ms, 1ms, 999ms, -1000ms}) {
        EXPECT_THROW((RedisServiceRegistry{client, {wrong}}), std::invalid_argument)
            << wrong.count();
    }
    RedisServiceRegistry odd{client, {1'001ms}};
    odd.register_instance(ns, order);
    EXPECT_EQ(ttl(id), 2);
}

/// Calls that only a caller of the script can make: the registry sends none of them.
TEST_F(Registry, Defect10_AndDefect12_NothingHappensBeforeTheArgumentsAreChecked) {
    std::vector<std::string> const head{"EVAL", std::string{scripts::registry_register.text}, "1",
                                        ns};
    auto const refused = [&](std::vector<std::string> const& arguments) {
        auto command = head;
        command.insert(command.end(), arguments.begin(), arguments.end());
        return redis().command(command).is_error();
    };
    for (std::string const lease : {"", "0", "-2", "-01", "+60", "1.5", "6e1", " 60", "sixty",
                                    "315360001", "99999999999999999999"}) {
        EXPECT_TRUE(refused({lease, "order", id, "http", "10.0.0.5", "80", "1"})) << lease;
    }
    EXPECT_TRUE(refused({"60", "order", id, "http", "10.0.0.5", "80"})) << "no weight";
    EXPECT_TRUE(refused({"60", "order", id, "http", "10.0.0.5", "80", "1", "_k"})) << "no value";
    EXPECT_THAT(keys(), IsEmpty());
    EXPECT_THAT(heard(), IsEmpty());
    EXPECT_FALSE(refused({"60", "order", id, "http", "10.0.0.5", "80", "1"}));
    EXPECT_THROW((RedisServiceRegistry{client, {max_instance_ttl + 1s}}), std::invalid_argument);
}

TEST_F(Registry, Defect11_TheServiceIsListedAgain) {
    registry.register_instance(ns, order);
    redis().must({"DEL", DiscoveryKeyGenerator::service_idx_key(ns)});
    heard();
    registry.register_instance(ns, order);
    EXPECT_THAT(heard(), ElementsAre("svc_idx ← set", "svc_itc:" + id + " ← register"));
}

TEST_F(Registry, Defect13_AnInstanceThatIsNotListedIsRegisteredAgain) {
    registry.register_instance(ns, order);
    redis().must({"SREM", DiscoveryKeyGenerator::instance_idx_key(ns, "order"), id});
    auto const renewed = round();
    ASSERT_EQ(renewed.size(), 1u);
    EXPECT_EQ(renewed[0].renewal, Renewal::registered_again);
    EXPECT_TRUE(listed("order", id));
}

TEST_F(Registry, Defect14_ARegistrationForgetsWhenItWasLastRenewed) {
    registry.register_instance(ns, order);
    redis().must({"HSET", key(id), "__last_renew_pub_ttl_at", "4102444800"});
    registry.register_instance(ns, order);
    EXPECT_EQ(field(id, "__last_renew_pub_ttl_at"), "");
}

TEST_F(Registry, Defect15_AnInstanceMadePersistentIsReclaimedAndTold) {
    registry.register_instance(ns, order);
    redis().must({"PERSIST", key(id)});
    auto renewed = round();
    ASSERT_EQ(renewed.size(), 1u);
    EXPECT_EQ(renewed[0].renewal, Renewal::reclaimed);
    EXPECT_EQ(ttl(id), 60);
    EXPECT_TRUE(log.has("somebody made " + id + " persistent"));

    RedisServiceRegistry modest{client, {60s, false}};
    modest.register_instance(ns, an_instance("order", 81));
    redis().must({"PERSIST", key(id_of("order", 81))});
    renewed = modest.renew_registered(10s);
    ASSERT_EQ(renewed.size(), 1u);
    EXPECT_EQ(renewed[0].renewal, Renewal::released);
    EXPECT_THAT(modest.registered_ephemeral_instances(), IsEmpty());
    EXPECT_EQ(ttl(id_of("order", 81)), -1);
}

TEST_F(Registry, Defect16_ARegistrationAfterLossHasTheCurrentMetadata) {
    auto rich = order;
    rich.metadata = {{"version", "1"}};
    registry.register_instance(ns, rich);
    registry.set_metadata(ns, "order", id, Metadata{{"version", "2"}});
    registry.merge_metadata(ns, "order", id, {{"zone", "b"}});
    redis().must({"FLUSHALL"});
    ASSERT_EQ(round().at(0).renewal, Renewal::registered_again);
    EXPECT_EQ(metadata_of(id), (Metadata{{"version", "2"}, {"zone", "b"}}));
    redis().must({"FLUSHALL"});
    EXPECT_TRUE(registry.renew(ns, rich)) << "a single renewal too";
    EXPECT_EQ(metadata_of(id), (Metadata{{"version", "2"}, {"zone", "b"}}));
}

TEST_F(Registry, Defect17_AnyDescriptionDeregisters) {
    registry.register_instance(ns, order);
    auto fixed = order;
    fixed.ephemeral = false;
    EXPECT_TRUE(registry.deregister(ns, fixed));
    EXPECT_THAT(registry.registered_ephemeral_instances(), IsEmpty());
}

TEST_F(Registry, Defect3_WhatWasDeregisteredIsNotBroughtBack) {
    registry.register_instance(ns, order);
    redis().must({"DEL", key(id)});
    redis().must({"DEL", DiscoveryKeyGenerator::instance_idx_key(ns, "order")});
    EXPECT_FALSE(registry.deregister(ns, order)) << "E1: somebody cleaned up before";
    EXPECT_THAT(round(), IsEmpty());
    EXPECT_FALSE(listed("order", id));
}

TEST_F(Registry, Defect3_NotEvenWhenDeregistrationFailed) {
    registry.register_instance(ns, order);
    server().signal(SIGSTOP);
    std::error_code error;
    registry.deregister(ns, order, error);
    server().signal(SIGCONT);
    EXPECT_EQ(error, errc::not_connected) << "silent for so long, it counts as dead";
    EXPECT_THAT(round(), IsEmpty());
}

TEST_F(Registry, Defect4_NoRoundBringsBackWhatIsDeregisteredMeanwhile) {
    for (int attempt = 0; attempt < 100; ++attempt) {
        registry.register_instance(ns, order);
        redis().must({"DEL", key(id)});
        std::thread rounds{[&] { round(); }};
        registry.deregister(ns, order);
        rounds.join();
        round();
        ASSERT_FALSE(listed("order", id)) << "attempt " << attempt;
        ASSERT_EQ(redis().must({"EXISTS", key(id)}).integer, 0) << "attempt " << attempt;
        ASSERT_THAT(registry.registered_ephemeral_instances(), IsEmpty());
    }
}

TEST_F(Registry, Defect18_NamesThatPoisonSubscribersAreRefused) {
    for (auto const* service : {"", " ", "a@b", "a#b"}) {
        EXPECT_THROW(registry.register_instance(ns, an_instance(service)), std::invalid_argument);
        EXPECT_THROW(registry.set_service(ns, service), std::invalid_argument);
    }
    auto odd = order;
    odd.host = "a b";
    EXPECT_THROW(registry.register_instance(ns, odd), std::invalid_argument);
    odd = order;
    odd.instance_id = "my-own-id";
    EXPECT_THROW(registry.register_instance(ns, odd), std::invalid_argument);
    EXPECT_THROW(registry.register_instance("a:b", order), std::invalid_argument);
    EXPECT_THROW(registry.set_metadata(ns, "order", id, "_x", "1"), std::invalid_argument);
    EXPECT_THAT(keys(), IsEmpty());
}

TEST_F(Registry, Defect19_ManyPairsAreStoredWholeOrRefused) {
    auto rich = order;
    for (int i = 0; i < 5'000; ++i) rich.metadata.emplace("k" + std::to_string(i), "v");
    EXPECT_TRUE(registry.register_instance(ns, rich));
    EXPECT_EQ(metadata_of(id).size(), 5'000u);
    EXPECT_TRUE(registry.set_metadata(ns, "order", id, rich.metadata));
    EXPECT_EQ(metadata_of(id).size(), 5'000u);
    for (std::size_t i = 0; i <= max_metadata_pairs; ++i) {
        rich.metadata.emplace(std::to_string(i), "");
    }
    EXPECT_THROW(registry.register_instance(ns, rich), std::invalid_argument);
    EXPECT_EQ(metadata_of(id).size(), 5'000u);
}

TEST_F(Registry, Defect20_MetadataOfWhatIsNotRegisteredIsNotWritten) {
    redis().must({"HSET", key(id), "stray", "1"});
    EXPECT_FALSE(registry.set_metadata(ns, "order", id, Metadata{{"a", "1"}}));
    EXPECT_FALSE(registry.merge_metadata(ns, "order", id, {{"a", "1"}}));
    EXPECT_THAT(metadata_of(id), IsEmpty());
    EXPECT_THAT(heard(), IsEmpty());
}

TEST_F(Registry, Defect21_OnlyLivingInstancesKeepAService) {
    registry.register_instance(ns, order);
    EXPECT_FALSE(registry.remove_service(ns, "order"));
    redis().must({"DEL", key(id)});
    heard();
    EXPECT_TRUE(registry.remove_service(ns, "order"));
    EXPECT_THAT(heard(), ElementsAre("svc_itc:" + id + " ← expired", "svc_idx ← remove"));
}

TEST_F(Registry, Defect22_AndDefect23_RemovingLeavesNothingAndSaysWhatItDid) {
    EXPECT_TRUE(registry.set_service(ns, "order"));
    EXPECT_FALSE(registry.set_service(ns, "order"));
    EXPECT_TRUE(registry.remove_service(ns, "order"));
    EXPECT_FALSE(registry.remove_service(ns, "order"));
    EXPECT_THAT(keys(), IsEmpty());
}

TEST_F(Registry, E4_WhoHoldsAnInstanceTakesItBackFromWhoMadeItPersistent) {
    auto mine = order;
    mine.metadata = {{"v", "A"}};
    registry.register_instance(ns, mine);
    RedisServiceRegistry other{client};
    auto theirs = order;
    theirs.ephemeral = false;
    theirs.weight = 9;
    theirs.metadata = {{"v", "B"}};
    other.register_instance(ns, theirs);
    EXPECT_TRUE(registry.renew(ns, mine));
    EXPECT_EQ(field(id, "weight"), "1");
    EXPECT_EQ(metadata_of(id), mine.metadata);
    EXPECT_EQ(ttl(id), 60);
}

TEST_F(Registry, E6_ARemovedServiceLeavesNoCount) {
    registry.register_instance(ns, order);
    registry.deregister(ns, order);
    EXPECT_TRUE(registry.remove_service(ns, "order"));
    RedisServiceStatistic{client}.stat_service(ns, "order");
    EXPECT_FALSE(registry.remove_service(ns, "order"));
    EXPECT_THAT(keys(), IsEmpty());
}

TEST_F(Registry, E10_OneIdUnderTwoServices) {
    // Only peers do that: our ids name their service.
    for (auto const* service : {"a", "b"}) {
        redis().must({"SADD", DiscoveryKeyGenerator::service_idx_key(ns), service});
        redis().must({"SADD", DiscoveryKeyGenerator::instance_idx_key(ns, service), id});
    }
    redis().must({"HSET", key(id), "serviceId", "b", "instanceId", id});
    EXPECT_TRUE(registry.deregister(ns, "a", id));
    heard();
    EXPECT_THAT(RedisServiceDiscovery{client}.instances(ns, "b"), IsEmpty());
    EXPECT_THAT(heard(), ElementsAre("svc_itc:" + id + " ← expired"));
}

TEST_F(Registry, ARoundReportsEachInstanceByItself) {
    registry.register_instance(ns, order);
    registry.register_instance(ns, an_instance("order", 81));
    registry.register_instance("other-{x}", an_instance("web", 82));
    redis().must({"DEL", key(id)});
    redis().must({"DEL", key(id_of("order", 81))});
    redis().must({"SET", key(id_of("order", 81)), "no Hash", "EX", "50"});
    auto const renewed = round();
    ASSERT_EQ(renewed.size(), 3u);
    EXPECT_EQ(renewed[0].renewal, Renewal::registered_again);
    EXPECT_EQ(renewed[1].renewal, Renewal::failed) << "defect 29: its neighbours are renewed";
    EXPECT_EQ(renewed[2].renewal, Renewal::renewed);
    EXPECT_EQ(renewed[2].ns, "other-{x}");
    EXPECT_TRUE(log.has("has another type"));
}

TEST_F(Registry, WarnsOfNamesThatActAsPatterns) {
    EXPECT_TRUE(registry.register_instance(ns, order));
    EXPECT_FALSE(log.has("glob pattern"));
    EXPECT_TRUE(registry.register_instance(ns, an_instance("order[1]")));
    EXPECT_TRUE(log.has("\"order[1]\" holds characters of a glob pattern"));
}

TEST_F(Registry, ManyAreRenewedInFewCalls) {
    for (int i = 0; i < 300; ++i) registry.register_instance(ns, an_instance("order", 1'000 + i));
    auto const before = rollcall::test::command_stat(redis(), "evalsha", "calls");
    EXPECT_EQ(round().size(), 300u);
    EXPECT_EQ(rollcall::test::command_stat(redis(), "evalsha", "calls") - before, 3);
}

TEST_F(Registry, WorksWithoutTheRightToPublish) {
    redis().must({"ACL", "SETUSER", "silent", "on", ">pw", "~*", "resetchannels", "+@all"});
    auto quiet = options();
    quiet.url = "unix://silent:pw@" + server().socket();
    Client poor{quiet};
    RedisServiceRegistry mute{poor};
    EXPECT_TRUE(mute.register_instance(ns, order));
    EXPECT_TRUE(listed("order", id));
    EXPECT_EQ(ttl(id), 60) << "nothing is half-written";
    EXPECT_TRUE(log.has("lacks the ACL rule"));
    EXPECT_THAT(heard(), IsEmpty());
}

TEST_F(Registry, OperationalFailuresAreErrorsOrCodes) {
    server().kill();
    std::error_code error;
    EXPECT_FALSE(registry.register_instance(ns, order, error));
    EXPECT_EQ(error, errc::not_connected);
    EXPECT_THROW(registry.set_service(ns, "order"), Error);
    server().start();
    client.wait_until_ready(5s);
    EXPECT_TRUE(registry.register_instance(ns, order, error));
    EXPECT_FALSE(error);
}

}  // namespace
}  // namespace rollcall::cosky::test
