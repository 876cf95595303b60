#pragma once

#include <csignal>
#include <filesystem>
#include <gmock/gmock.h>

#include "integration/announce/fixture.hpp"
#include "support/documented_users.hpp"
#include "support/holdings.hpp"
#include "support/refusal.hpp"

/// What holds in both layouts. Each layout's test program instantiates it.
namespace rollcall::test {

using testing::ElementsAre;

TEST_P(AnnouncerTest, RegistersAtOnceAndDeregistersAtTheEnd) {
    auto const by = owner(seldom);
    {
        auto const me = announced(*by, instance());
        EXPECT_TRUE(stored(me));
        EXPECT_EQ(me.instance().port, 8080);
        EXPECT_FALSE(me.instance().instance_id.empty());
        EXPECT_THAT(events->list(1), ElementsAre("registered"));
    }
    EXPECT_FALSE(stored(by->port->validated(instance()))) << "its end waits for that";
}

TEST_P(AnnouncerTest, RedisMayBeDownAtStartAndComeLater) {
    server.kill();
    std::filesystem::remove(server.socket());
    auto const by = owner(seldom);
    auto me = announce(*by, instance());
    EXPECT_FALSE(me.registered());
    me.update_metadata({{"zone", "b"}});
    EXPECT_TRUE(eventually([&] { return log.has("cannot connect"); }));
    server.start();
    EXPECT_TRUE(events->has("registered"));
    EXPECT_TRUE(eventually([&] { return me.registered(); }));
    EXPECT_TRUE(stored(me));
    EXPECT_THAT(events->list(1), ElementsAre("registered"));
}

TEST_P(AnnouncerTest, RedisRestartedEmptyHasItWithinHalfASecond) {
    auto const by = owner(seldom);
    auto const me = announced(*by, instance());
    auto const before = connections();
    server.kill();
    server.start();
    auto const took = after_connection(before, [&] { return stored(me); });
    EXPECT_LE(took, 500ms + tolerated_overshoot);
    EXPECT_TRUE(events->has("registered", 2));
    EXPECT_THAT(events->list(3), ElementsAre("registered", "lost", "registered"));
}

TEST_P(AnnouncerTest, RedisRestartedWithItsDataGetsAHeartbeatAndNoMore) {
    server.kill();
    server.start({"enable-debug-command yes", "appendonly yes", "appendfsync always"});
    auto const by = owner(seldom);
    auto const me = announced(*by, instance());
    auto const key = GetParam().hash_key(me.instance());
    admin().must({"PEXPIRE", key, "45000"});
    // Of no description: a registration would take it away.
    auto const mine = GetParam().disables ? "metadata" : "_mine";
    admin().must({"HSET", key, mine, R"({"mine":"kept"})"});
    auto const before = connections();
    server.kill();
    server.start({"enable-debug-command yes", "appendonly yes", "appendfsync always"});
    auto const took = after_connection(
        before, [&] { return admin().must({"PTTL", key}).integer > lease.count() * 3 / 4; });
    EXPECT_LE(took, 500ms + tolerated_overshoot);
    EXPECT_EQ(field(me.instance(), mine), R"({"mine":"kept"})");
    EXPECT_TRUE(me.registered());
    EXPECT_THAT(events->list(1), ElementsAre("registered"));
}

TEST_P(AnnouncerTest, AFullRedisRenewsWhatIsThere) {
    auto const by = owner(50ms);
    auto const me = announced(*by, instance());
    admin().must({"CONFIG", "SET", "maxmemory", "1"});
    ASSERT_TRUE(admin().command({"SET", "more", "1"}).is_error()) << "it is not full";
    EXPECT_TRUE(renewed(me.instance()));
    EXPECT_TRUE(me.registered());
    EXPECT_THAT(events->list(1), ElementsAre("registered"));
}

TEST_P(AnnouncerTest, AFlushIsNoticedAtOnce) {
    auto const by = owner(seldom);
    auto const me = announced(*by, instance());
    for (std::size_t round = 1; round <= 5; ++round) {
        ASSERT_TRUE(eventually(
            [&] { return admin().must({"EXISTS", GetParam().epoch_key}).integer == 1; }));
        admin().must({"FLUSHALL"});
        auto const took = time_of([&] { EXPECT_TRUE(stored_soon(me.instance())); });
        EXPECT_LE(took, 500ms + tolerated_overshoot);
        ASSERT_TRUE(events->has("registered", round + 1));
    }
    EXPECT_EQ(events->count("lost"), 5u);
    EXPECT_EQ(events->count("removed_by_other"), 0u);
}

TEST_P(AnnouncerTest, AFlushWhileNobodyListensIsNoticedToo) {
    auto const by = owner(seldom);
    auto const me = announced(*by, instance());
    auto const before = connections();
    auto other = admin();
    other.must({"MULTI"});
    other.must({"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"});
    other.must({"CLIENT", "KILL", "TYPE", "pubsub"});
    other.must({"FLUSHALL"});
    other.must({"EXEC"});
    auto const took = after_connection(before, [&] { return stored(me); });
    EXPECT_LE(took, 500ms + tolerated_overshoot);
}

TEST_P(AnnouncerTest, ScriptsThatAreGoneHarmNothing) {
    auto const by = owner(50ms);
    auto const me = announced(*by, instance());
    for (int i = 0; i < 5; ++i) {
        admin().must({"SCRIPT", "FLUSH"});
        EXPECT_TRUE(renewed(me.instance()));
    }
    EXPECT_THAT(events->list(1), ElementsAre("registered"));
}

TEST_P(AnnouncerTest, WhatAnAdministratorRemovesIsToldAndTakenBack) {
    auto const by = owner(50ms);
    auto const me = announced(*by, instance());
    ASSERT_TRUE(renewed(me.instance()));
    auto const admins = owner(seldom);
    remove(*admins, me.instance());
    EXPECT_TRUE(events->has("registered", 2));
    EXPECT_TRUE(stored(me));
    EXPECT_THAT(events->list(3), ElementsAre("registered", "removed_by_other", "registered"));
}

TEST_P(AnnouncerTest, WhatAnAdministratorRemovesMayStayOut) {
    auto const by = owner(50ms);
    auto me = announced(*by, instance(), true);
    auto other = by->announcer->announce(instance(8081), {});
    ASSERT_TRUE(renewed(me.instance()));
    auto const admins = owner(seldom);
    remove(*admins, me.instance());
    EXPECT_TRUE(events->has("removed_by_other"));
    me.update_metadata({{"zone", "b"}});
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(renewed(other.instance()));
    EXPECT_FALSE(stored(me));
    EXPECT_FALSE(me.registered());
    me.release();
    EXPECT_TRUE(events->has("released"));
    EXPECT_THAT(events->list(3), ElementsAre("registered", "removed_by_other", "released"));
}

TEST_P(AnnouncerTest, AHeartbeatRightAfterTheRegistrationFindsIt) {
    auto const by = owner(10ms);
    std::vector<Announcement> all;
    for (int i = 0; i < 50; ++i) all.push_back(announce(*by, instance(9'000 + i)));
    EXPECT_TRUE(eventually([&] {
        return std::all_of(all.begin(), all.end(), [](auto const& a) { return a.registered(); });
    }));
    EXPECT_TRUE(renewed(all.front().instance()));
    EXPECT_TRUE(renewed(all.back().instance()));
    EXPECT_EQ(events->list(50).size(), 50u);
    EXPECT_EQ(events->count("registered"), 50u);
}

TEST_P(AnnouncerTest, ChangesAreWrittenAndNothingElse) {
    auto const by = owner(50ms);
    auto me = announced(*by, instance());
    auto const key = GetParam().hash_key(me.instance());
    Metadata const wanted{{"zone", "b"}};
    admin().must({"HSET", key, "weight", "9"});
    me.update_metadata({{"zone", "b"}});
    EXPECT_TRUE(eventually([&] { return found(*by, me.instance()).metadata == wanted; }));
    EXPECT_EQ(field(me.instance(), "weight"), "9") << "an operator's, until it is registered anew";
    EXPECT_TRUE(renewed(me.instance()));
    EXPECT_EQ(field(me.instance(), "weight"), "9");
    me.set_weight(5);
    EXPECT_TRUE(eventually([&] { return field(me.instance(), "weight") == "5"; }));
    admin().must({"HSET", key, "weight", "9"});
    admin().must({"FLUSHALL"});
    EXPECT_TRUE(eventually([&] { return field(me.instance(), "weight") == "5"; }))
        << "after a loss the owner's description wins";
}

TEST_P(AnnouncerTest, WhatAnOperatorChangedStaysUntilItsOwnerRestarts) {
    auto described = instance();
    described.metadata = {{"zone", "of the owner"}};
    Metadata const changed{{"zone", "of an operator"}};
    auto const operators = owner(seldom);
    ServiceInstance was;
    {
        auto const by = owner(50ms);
        auto const me = announced(*by, described);
        was = me.instance();
        auto const id = id_of(was);
        operators->core
            ->run([&] {
                return operators->port->set_metadata(id, changed, operators->core->deadline());
            })
            .value();
        for (int i = 0; i < 3; ++i) EXPECT_TRUE(renewed(was));
        EXPECT_EQ(found(*operators, was).metadata, changed);
    }
    auto const next = owner(seldom);
    auto const me = announced(*next, described);
    EXPECT_EQ(found(*operators, was).metadata, described.metadata) << "its owner knows best";
}

TEST_P(AnnouncerTest, AChangeWhileRedisIsAwaySurvives) {
    server.kill();
    server.start({"appendonly yes", "appendfsync always"});
    auto const by = owner(seldom);
    auto me = announced(*by, instance());
    server.kill();
    me.set_weight(4);
    me.set_weight(5);
    server.start({"appendonly yes", "appendfsync always"});
    EXPECT_TRUE(eventually([&] { return field(me.instance(), "weight") == "5"; }));
    EXPECT_EQ(events->count("registered"), 1u);
}

TEST_P(AnnouncerTest, AChangeWithoutAnAnswerIsTakenBackWhenItIsNotWantedAnyMore) {
    auto const by = owner(seldom);
    auto me = announced(*by, instance());
    auto redis = admin();
    auto const messages = [&] { return command_stat(redis, "publish", "calls"); };
    auto const before = messages();
    me.set_weight(5);  // So that the server knows the script.
    ASSERT_TRUE(eventually([&] { return field(me.instance(), "weight") == "5"; }));
    me.set_weight(1);
    ASSERT_TRUE(eventually([&] { return messages() >= before + 2; })) << "nothing is on its way";
    server.signal(SIGSTOP);
    auto const given_up = std::chrono::steady_clock::now() + by->core->request_timeout() + 500ms;
    // It lies there, and will be carried out when nobody waits for its answer any more.
    me.set_weight(5);
    ASSERT_TRUE(eventually([&] { return !is_connected(*by->core); }));
    me.set_weight(1);
    ASSERT_TRUE(eventually([&] { return std::chrono::steady_clock::now() > given_up; }, 10s));
    server.signal(SIGCONT);
    EXPECT_TRUE(renewed(me.instance())) << "behind what was on its way";
    EXPECT_TRUE(eventually([&] { return field(me.instance(), "weight") == "1"; }));
}

TEST_P(AnnouncerTest, RenewalsThatFailAreTold) {
    auto const by = owner(50ms);
    auto const me = announced(*by, instance());
    admin().must({"CONFIG", "SET", "min-replicas-to-write", "1"});
    EXPECT_TRUE(eventually([&] { return log.has("cannot renew instances"); }));
    EXPECT_TRUE(log.has("NOREPLICAS"));
    admin().must({"CONFIG", "SET", "min-replicas-to-write", "0"});
    EXPECT_TRUE(eventually([&] { return log.has("renewing again"); }));
    EXPECT_TRUE(renewed(me.instance()));
    EXPECT_THAT(events->list(1), ElementsAre("registered"));
}

TEST_P(AnnouncerTest, ASlowRedisDoesNotPileUpRounds) {
    auto const by = owner(20ms);
    auto const me = announced(*by, instance());
    ASSERT_TRUE(renewed(me.instance()));
    auto slow = admin();
    auto const calls = [&] { return command_stat(slow, "evalsha", "calls"); };
    auto const before = calls();
    slow.must({"DEBUG", "SLEEP", "0.4"});
    EXPECT_LE(calls() - before, 6) << "twenty were due";
    EXPECT_TRUE(renewed(me.instance()));
    EXPECT_THAT(events->list(1), ElementsAre("registered"));
}

TEST_P(AnnouncerTest, AStoppedRedisLosesNothing) {
    auto const by = owner(50ms);
    auto const me = announced(*by, instance());
    server.signal(SIGSTOP);
    EXPECT_TRUE(eventually([&] { return !is_connected(*by->core); }));
    EXPECT_TRUE(me.registered()) << "as far as anybody knows";
    server.signal(SIGCONT);
    EXPECT_TRUE(renewed(me.instance()));
    EXPECT_THAT(events->list(1), ElementsAre("registered"));
}

TEST_P(AnnouncerTest, AThousandTakeOneThreadAndFewCommands) {
    auto const by = owner(1s);
    auto const before = Holdings{}.threads;
    std::vector<Announcement> all;
    all.reserve(1'000);
    for (int i = 0; i < 1'000; ++i) {
        all.push_back(by->announcer->announce(instance(10'000 + i), {}));
    }
    EXPECT_TRUE(eventually([&] {
        return std::all_of(all.begin(), all.end(), [](auto const& a) { return a.registered(); });
    }));
    EXPECT_LE(Holdings{}.threads, before) << "it is the client's that keeps them all";
    EXPECT_TRUE(renewed(all.front().instance())) << "a first round, and looks behind it";
    ASSERT_TRUE(renewed(all.front().instance()));
    auto redis = admin();
    auto const commands = [&] {
        return command_stat(redis, "evalsha", "calls") + command_stat(redis, "exists", "calls");
    };
    auto const first = commands();
    ASSERT_TRUE(renewed(all.back().instance()));
    EXPECT_LE(commands() - first, 30) << "for a round or two of a thousand";
    auto const took = time_of([&] { all.clear(); });
    EXPECT_LE(took, 5s);
    EXPECT_EQ(admin().must({"EXISTS", GetParam().hash_key(instance(10'000))}).integer, 0);
}

TEST_P(AnnouncerTest, BadInputAndASecondOwnerAreRefusedAtOnce) {
    auto const by = owner(seldom);
    auto nameless = instance();
    nameless.service_name.clear();
    EXPECT_THAT(refusal([&] { (void)by->announcer->announce(nameless, {}); }),
                testing::HasSubstr("service"));
    EXPECT_THAT(refusal([&] { Announcer::create(by->core, by->port, lease); }),
                testing::HasSubstr("heartbeat"));
    for (int const weight : {-1, 1'000'001, 2'000'000'000}) {
        auto light = instance();
        light.weight = weight;
        EXPECT_THAT(refusal([&] { (void)by->announcer->announce(light, {}); }),
                    testing::StartsWith("weight " + std::to_string(weight)));
    }
    auto unreachable = instance();
    unreachable.instance_id.clear();
    unreachable.scheme = "grpc";
    unreachable.port = 0;
    EXPECT_THAT(refusal([&] { (void)by->announcer->announce(unreachable, {}); }),
                testing::StrEq("port 0: must be given: the scheme \"grpc\" has no default"));
    auto me = announced(*by, instance());
    EXPECT_THAT(refusal([&] { (void)by->announcer->announce(instance(), {}); }),
                testing::HasSubstr("is announced or renewed already"));
    EXPECT_THAT(refusal([&] { me.set_weight(-1); }), testing::HasSubstr("weight"));
    EXPECT_THAT(refusal([&] { me.set_weight(1'000'001); }), testing::HasSubstr("weight"));
    EXPECT_EQ(me.instance().weight, 1);
    me.release();
    auto again = by->announcer->announce(instance(), {});
    EXPECT_TRUE(stored_soon(again.instance())) << "it is free now";
}

TEST_P(AnnouncerTest, AThrowingHookEndsNothing) {
    auto const by = owner(50ms);
    AnnounceOptions options;
    options.on_event = [told = events](AnnouncementEvent event) {
        told->note(event);
        throw std::runtime_error{"the user's"};
    };
    {
        auto const me = by->announcer->announce(instance(), options);
        ASSERT_TRUE(events->has("registered"));
        admin().must({"FLUSHALL"});
        ASSERT_TRUE(events->has("registered", 2));
    }
    EXPECT_TRUE(log.has("a callback threw: the user's"));
}

TEST_P(AnnouncerTest, APersistentOneIsKeptToo) {
    auto const by = owner(50ms);
    auto described = instance();
    described.ephemeral = false;
    auto me = announced(*by, described);
    auto const key = GetParam().hash_key(me.instance());
    EXPECT_EQ(admin().must({"PTTL", key}).integer, -1);
    admin().must({"FLUSHALL"});
    EXPECT_TRUE(events->has("registered", 2));
    EXPECT_EQ(admin().must({"PTTL", key}).integer, -1);
    me.release();
    EXPECT_FALSE(stored(me));
    EXPECT_TRUE(events->has("released"));
    EXPECT_THAT(events->list(4), ElementsAre("registered", "lost", "registered", "released"));
}

TEST_P(AnnouncerTest, WithoutTheRightsForOurOwnKeysItGoesOn) {
    admin().must({"ACL", "SETUSER", "ann", "on", ">pw", "~*", "&*", "+@all", "-set", "-exists",
                  "-client|tracking", "-info"});
    auto const by = owner(50ms, "unix://ann:pw@" + server.socket());
    auto const me = announced(*by, instance());
    EXPECT_TRUE(renewed(me.instance()));
    admin().must({"FLUSHALL"});
    EXPECT_TRUE(events->has("registered", 2));
    EXPECT_EQ(events->count("removed_by_other"), 0u) << "nobody can tell";
    EXPECT_EQ(log.count("writing the epoch"), 1u);
    EXPECT_EQ(log.count("operators cannot drain"), 1u);
}

TEST_P(AnnouncerTest, TheDocumentedRightsOfAProviderSuffice) {
    for (auto const& user : documented_users(GetParam().users)) admin().must(user);
    auto const by = owner(50ms, "unix://provider:PASSWORD@" + server.socket());
    auto me = announced(*by, instance());
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(renewed(me.instance())) << "leases are looked at, too";
    admin().must({"FLUSHALL"});
    EXPECT_TRUE(events->has("registered", 2));
    EXPECT_TRUE(renewed(me.instance()));
    me.update_metadata({{"zone", "b"}});
    mark(*by, me.instance(), true);
    EXPECT_TRUE(events->has("drained"));
    mark(*by, me.instance(), false);
    EXPECT_TRUE(events->has("restored"));
    me.set_weight(3);
    EXPECT_TRUE(eventually([&] { return field(me.instance(), "weight") == "3"; }));
    me.release();
    for (auto const& line : log.lines()) {
        EXPECT_THAT(line, testing::Not(testing::HasSubstr("permission")));
        EXPECT_THAT(line, testing::Not(testing::HasSubstr("NOPERM")));
    }
}

TEST_P(AnnouncerTest, AKeyOfAnotherTypeIsToldBeforeTheLeaseHasEnded) {
    auto const by = owner(50ms);
    auto const me = announced(*by, instance());
    auto const other = announced(*by, instance(8081));
    auto const key = GetParam().hash_key(me.instance());
    admin().must({"SET", key, "text"});
    EXPECT_TRUE(events->has("refused"));
    EXPECT_TRUE(eventually([&] { return !me.registered(); }));
    EXPECT_TRUE(other.registered());
    EXPECT_TRUE(log.has("another type"));
    EXPECT_TRUE(renewed(other.instance()));
    EXPECT_EQ(events->count("refused"), 1u);
    admin().must({"DEL", key});
    EXPECT_TRUE(events->has("registered", 3));
    EXPECT_TRUE(stored(me));
    EXPECT_TRUE(eventually([&] { return me.registered(); }));
}

TEST_P(AnnouncerTest, AHeartbeatThatIsNotAllowedIsTold) {
    auto const right = [this](char const* change) {
        admin().must({"ACL", "SETUSER", "own", "on", ">pw", "~*", "&*", "+@all", change});
    };
    right("+time");
    auto const by = owner(50ms, "unix://own:pw@" + server.socket());
    auto const me = announced(*by, instance());
    right("-hmget");
    EXPECT_TRUE(events->has("refused"));
    EXPECT_TRUE(eventually([&] { return !me.registered(); }));
    EXPECT_TRUE(log.has("cannot renew instances"));
    right("+hmget");
    EXPECT_TRUE(events->has("registered", 2));
    EXPECT_TRUE(eventually([&] { return me.registered(); }));
    EXPECT_THAT(events->list(3), ElementsAre("registered", "refused", "registered"));
}

TEST_P(AnnouncerTest, ARefusedRegistrationIsToldAndTriedAgain) {
    auto const by = owner(seldom);
    auto const key = GetParam().hash_key(by->port->validated(instance()));
    admin().must({"SET", key, "no hash"});
    auto const me = announce(*by, instance());
    EXPECT_TRUE(events->has("refused"));
    EXPECT_FALSE(me.registered());
    admin().must({"DEL", key});
    EXPECT_TRUE(eventually([&] { return me.registered(); }, 15s));
    EXPECT_THAT(events->list(2), ElementsAre("refused", "registered"));
}

TEST_P(AnnouncerTest, TwoOwnersOfOneIdHearOfEachOther) {
    auto const first = owner(50ms);
    auto const second = owner(70ms);
    auto const mine = announced(*first, instance());
    auto const alone = first->announcer->announce(instance(8081), {});
    ASSERT_TRUE(renewed(mine.instance()));
    EXPECT_EQ(events->count("conflict"), 0u);
    auto const others = std::make_shared<Events>();
    AnnounceOptions options;
    options.on_event = [others](AnnouncementEvent event) { others->note(event); };
    auto const theirs = second->announcer->announce(instance(), options);
    EXPECT_TRUE(eventually([&] { return others->count("conflict") > 0; }, 10s));
    EXPECT_TRUE(eventually([&] { return events->count("conflict") > 0; }, 10s));
    EXPECT_EQ(log.count("another process keeps alive, too,"), 2u) << "one of each";
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(renewed(alone.instance()));
    EXPECT_EQ(others->count("conflict"), 1u);
    EXPECT_EQ(events->count("conflict"), 1u);
}

TEST_P(AnnouncerTest, OneOwnerIsNoConflict) {
    auto const by = owner(20ms);
    auto const me = announced(*by, instance());
    for (int i = 0; i < 20; ++i) ASSERT_TRUE(renewed(me.instance()));
    EXPECT_THAT(events->list(1), ElementsAre("registered"));
}

}  // namespace rollcall::test
