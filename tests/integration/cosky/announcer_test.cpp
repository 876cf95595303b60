#include "integration/announce/cases.hpp"
#include "integration/announce/drain_cases.hpp"
#include "integration/announce/end_cases.hpp"
#include "integration/announce/line_cases.hpp"
#include "integration/announce/renewal_cases.hpp"
#include "integration/cosky/fixture.hpp"

namespace rollcall::test {
namespace {

LayoutNames cosky_names() {
    LayoutNames names;
    names.name = "Cosky";
    names.layout = [](std::chrono::milliseconds lease) {
        return cosky_layout(cosky::test::ns, lease);
    };
    names.instance = [](int port) { return cosky::test::an_instance("orders", port); };
    names.hash_key = [](ServiceInstance const& instance) {
        return cosky::DiscoveryKeyGenerator::instance_key(cosky::test::ns, instance.instance_id);
    };
    names.epoch_key = cosky::test::ns + ":rollcall:epoch";
    names.users = "cosky-fleets.md";
    return names;
}

auto const name_of = [](auto const& info) { return info.param.name; };
INSTANTIATE_TEST_SUITE_P(In, AnnouncerTest, testing::Values(cosky_names()), name_of);
INSTANTIATE_TEST_SUITE_P(In, DrainTest, testing::Values(cosky_names()), name_of);
INSTANTIATE_TEST_SUITE_P(In, RenewalTest, testing::Values(cosky_names()), name_of);
INSTANTIATE_TEST_SUITE_P(In, StuckLineTest, testing::Values(cosky_names()), name_of);

class CoskyAnnouncerTest : public AnnouncerTest {};
INSTANTIATE_TEST_SUITE_P(In, CoskyAnnouncerTest, testing::Values(cosky_names()), name_of);

TEST_P(CoskyAnnouncerTest, ALeaseThatSomebodyTookAwayComesBack) {
    auto const by = owner(50ms);
    auto const me = announced(*by, instance());
    auto const key = GetParam().hash_key(me.instance());
    admin().must({"PERSIST", key});
    EXPECT_TRUE(eventually([&] { return admin().must({"PTTL", key}).integer > 0; }));
    EXPECT_TRUE(events->has("registered", 2));
    EXPECT_EQ(events->count("removed_by_other"), 0u);
    EXPECT_TRUE(log.has("somebody took the lease of"));
}

class CoskyRenewalTest : public RenewalTest {};
INSTANTIATE_TEST_SUITE_P(In, CoskyRenewalTest, testing::Values(cosky_names()), name_of);

TEST_P(CoskyRenewalTest, WhatHasNoLeaseGetsNone) {
    auto const by = owner(50ms);
    auto const it = registered(*by);
    admin().must({"PERSIST", GetParam().hash_key(it)});
    auto const renewal = renew(*by, it);
    EXPECT_TRUE(told->has("persistent"));
    EXPECT_TRUE(eventually([&] { return renewal.registered(); }));
    EXPECT_EQ(lease_of(it), -1);
    admin().must({"PEXPIRE", GetParam().hash_key(it), "45000"});
    EXPECT_TRUE(told->has("registered"));
    EXPECT_FALSE(log.has("somebody took the lease of"));
    EXPECT_EQ(told->list(), (Strings{"persistent", "registered"}));
}

TEST_P(CoskyAnnouncerTest, NothingCanBeDisabledOrUnhealthy) {
    auto const by = owner(seldom);
    auto me = announced(*by, instance());
    for (auto const mark : {&Announcement::set_enabled, &Announcement::set_healthy}) {
        try {
            (me.*mark)(false);
            ADD_FAILURE() << "it cannot be stored";
        } catch (Error const& error) {
            EXPECT_EQ(error.code(), errc::not_supported);
        }
    }
    EXPECT_EQ(me.instance(), by->port->validated(instance()));
}

}  // namespace
}  // namespace rollcall::test
