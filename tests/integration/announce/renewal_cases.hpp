#pragma once

#include <gmock/gmock.h>

#include "integration/announce/fixture.hpp"
#include "support/documented_users.hpp"
#include "support/refusal.hpp"

#include "rollcall/registry.hpp"

/// What is renewed for somebody else, in both layouts. Each layout's test program instantiates it.
namespace rollcall::test {

class RenewalTest : public AnnouncerTest {
protected:
    Renewal renew(Owner& by, ServiceInstance const& instance) {
        return by.announcer->renew(id_of(instance),
                                   [told = told](AnnouncementEvent event) { told->note(event); });
    }
    static ServiceInstance named(Owner& by) { return by.port->validated(instance()); }
    /// Whose owner is gone, or no concern here.
    ServiceInstance registered(Owner& by) {
        auto const it = named(by);
        by.core->run([&] { return by.port->register_instance(it, by.core->deadline()); }).value();
        return it;
    }
    std::int64_t lease_of(ServiceInstance const& instance) {
        return admin().must({"PTTL", GetParam().hash_key(instance)}).integer;
    }

    std::shared_ptr<Events> told = std::make_shared<Events>();
};

TEST_P(RenewalTest, KeepsAliveWhatSomebodyElseRegistered) {
    auto const by = owner(50ms);
    auto const it = registered(*by);
    auto const renewal = renew(*by, it);
    EXPECT_EQ(renewal.service_name(), it.service_name);
    EXPECT_EQ(renewal.instance_id(), it.instance_id);
    EXPECT_TRUE(told->has("registered"));
    EXPECT_TRUE(eventually([&] { return renewal.registered(); }));
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(renewed(it));
    EXPECT_EQ(told->list(), Strings{"registered"}) << "once";
}

TEST_P(RenewalTest, RenewsAtOnceAndNotWithTheNextRound) {
    auto const by = owner(seldom);
    auto const it = registered(*by);
    auto const other = by->announcer->announce(instance(8081), {});
    ASSERT_TRUE(stored_soon(other.instance())) << "its rounds have begun";
    admin().must({"PEXPIRE", GetParam().hash_key(it), "45000"});
    auto const renewal = renew(*by, it);
    EXPECT_TRUE(eventually([&] { return lease_of(it) > lease.count() * 3 / 4; }, 5s));
}

TEST_P(RenewalTest, NeverRegistersItAndHearsOfItsOwner) {
    auto const by = owner(50ms);
    auto const it = named(*by);
    auto const renewal = renew(*by, it);
    EXPECT_TRUE(told->has("lost")) << "it is not there";
    {
        auto const owns = owner(seldom);
        auto const mine = announced(*owns, instance());
        EXPECT_TRUE(told->has("registered"));
    }
    EXPECT_TRUE(told->has("removed_by_other"));
    EXPECT_FALSE(renewal.registered());
    auto const owns = owner(seldom);
    auto const mine = announced(*owns, instance());
    EXPECT_TRUE(told->has("registered", 2));
    EXPECT_TRUE(renewed(it));
    EXPECT_EQ(told->list(4), (Strings{"lost", "registered", "removed_by_other", "registered"}));
}

TEST_P(RenewalTest, ALossIsFoundAtOnceAndNothingIsRegistered) {
    auto const by = owner(seldom);
    auto const it = registered(*by);
    auto const renewal = renew(*by, it);
    ASSERT_TRUE(told->has("registered"));
    ASSERT_TRUE(
        eventually([&] { return admin().must({"EXISTS", GetParam().epoch_key}).integer == 1; }));
    auto const before = connections();
    server.kill();
    server.start();
    auto const took = after_connection(before, [&] { return told->count("lost") > 0; });
    EXPECT_LE(took, 500ms + tolerated_overshoot);
    EXPECT_TRUE(
        eventually([&] { return admin().must({"EXISTS", GetParam().epoch_key}).integer == 1; }));
    EXPECT_FALSE(stored(it));
    EXPECT_FALSE(renewal.registered());
}

TEST_P(RenewalTest, RedisMayBeDownAtStartAndComeLater) {
    server.kill();
    auto const by = owner(seldom);
    auto const renewal = renew(*by, named(*by));
    ASSERT_TRUE(eventually([&] { return log.has("cannot connect"); }));
    server.start();
    EXPECT_TRUE(told->has("lost"));
}

TEST_P(RenewalTest, ItsEndLeavesTheInstanceAndTheIdIsFree) {
    auto const by = owner(50ms);
    auto const it = registered(*by);
    auto const all = by->announcer->announce(instance(8081), {});
    {
        auto const renewal = renew(*by, it);
        ASSERT_TRUE(told->has("registered"));
        EXPECT_THAT(refusal([&] { (void)renew(*by, it); }),
                    testing::HasSubstr("is announced or renewed already"));
        EXPECT_THAT(refusal([&] { (void)by->announcer->announce(instance(), {}); }),
                    testing::HasSubstr("is announced or renewed already"));
    }
    EXPECT_TRUE(stored(it));
    ASSERT_TRUE(renewed(all.instance()));  // What was on its way has arrived.
    admin().must({"PEXPIRE", GetParam().hash_key(it), "45000"});
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(renewed(all.instance()));
    EXPECT_LE(lease_of(it), 45'000);
    EXPECT_EQ(told->list(), Strings{"registered"}) << "its end is no news";
    auto const again = renew(*by, it);
    EXPECT_TRUE(told->has("registered", 2));
}

TEST_P(RenewalTest, WhatAnOperatorDrainsIsRenewedAllTheSame) {
    auto const by = owner(50ms);
    auto const it = registered(*by);
    auto const renewal = renew(*by, it);
    ASSERT_TRUE(told->has("registered"));
    mark(*by, it, true);
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(renewed(it));
    EXPECT_EQ(found(*by, it), it);
    EXPECT_EQ(told->list(), Strings{"registered"});
}

TEST_P(RenewalTest, WithoutAHookTheLogTells) {
    auto const by = owner(50ms);
    auto const it = named(*by);
    auto const renewal = by->announcer->renew(id_of(it), {});
    EXPECT_TRUE(
        eventually([&] { return log.has("Redis does not have orders/" + it.instance_id); }));
}

TEST_P(RenewalTest, TheDocumentedRightsOfAProviderSuffice) {
    auto const owns = owner(seldom);
    auto const mine = announced(*owns, instance());
    for (auto const& user : documented_users(GetParam().users)) admin().must(user);
    auto const by = owner(50ms, "unix://provider:PASSWORD@" + server.socket());
    auto const renewal = renew(*by, mine.instance());
    EXPECT_TRUE(told->has("registered"));
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(renewed(mine.instance()));
    EXPECT_FALSE(log.has("NOPERM"));
    EXPECT_FALSE(log.has("permission"));
}

TEST_P(RenewalTest, IsAskedForOfARegistry) {
    auto const owns = owner(seldom);
    auto const mine = announced(*owns, instance());
    Client const client{server.url()};
    Registry const registry{client, GetParam().layout(lease)};
    auto const& it = mine.instance();
    EXPECT_THAT(refusal([&] { (void)registry.renew(it.service_name, ""); }),
                testing::HasSubstr("id"));
    admin().must({"PEXPIRE", GetParam().hash_key(it), "45000"});
    auto renewal = registry.renew(it.service_name, it.instance_id);
    EXPECT_TRUE(eventually([&] { return renewal.registered(); }));
    EXPECT_GT(lease_of(it), lease.count() * 3 / 4);
    renewal = {};
    EXPECT_FALSE(renewal.registered());
    EXPECT_TRUE(stored(it));
}

}  // namespace rollcall::test
