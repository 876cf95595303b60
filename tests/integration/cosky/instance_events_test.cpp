// What listeners to instances are told, and that nothing spoils it.

#include <atomic>
#include <gmock/gmock.h>

#include "integration/cosky/listening.hpp"

namespace rollcall::cosky::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class InstanceEventListening : public Listening {};

TEST_F(InstanceEventListening, TellsInOrderWhatHappens) {
    Heard heard;
    auto const subscription = container.receive(ns, "order", heard.listener());
    ASSERT_TRUE(heard.told("resync order"));
    auto const id = id_of("order");
    auto const key = DiscoveryKeyGenerator::instance_key(ns, id);
    auto const instance = an_instance("order");
    registry.register_instance(ns, instance);
    registry.set_metadata(ns, "order", id, "zone", "a");
    redis().must({"HSET", key, "__last_renew_pub_ttl_at", "1000000000"});
    registry.renew(ns, instance);
    registry.deregister(ns, instance);
    registry.register_instance(ns, instance);
    redis().must({"DEL", key});
    EXPECT_THAT(RedisServiceDiscovery{client}.instances(ns, "order"), IsEmpty());
    ASSERT_TRUE(heard.told("expired"));
    EXPECT_THAT(heard.lines(),
                ElementsAre("resync order", "register " + id, "set_metadata " + id, "renew " + id,
                            "deregister " + id, "register " + id, "expired " + id));
    for (auto const& event : heard.events()) {
        EXPECT_EQ(event.ns, ns);
        EXPECT_EQ(event.service_name, "order");
        if (event.event == InstanceEvent::resync) continue;
        EXPECT_EQ(event.instance, (InstanceIdParts{"order", "http", "10.0.0.5", 80}));
    }
}

TEST_F(InstanceEventListening, TellsOfAllServicesOfANamespace) {
    Heard heard;
    auto const subscription = container.receive(ns, heard.listener());
    ASSERT_TRUE(heard.told("resync "));
    registry.register_instance(ns, an_instance("order"));
    registry.register_instance("other-{x}", an_instance("order"));
    registry.register_instance(ns, an_instance("web"));
    ASSERT_TRUE(heard.told("register " + id_of("web")));
    EXPECT_THAT(heard.lines(),
                ElementsAre("resync ", "register " + id_of("order"), "register " + id_of("web")));
    EXPECT_EQ(heard.events().back().service_name, "web");
}

TEST_F(InstanceEventListening, Defect33_TheFirstEventSaysThatNothingIsMissedFromHereOn) {
    Heard heard;
    auto const subscription =
        container.receive(ns, "order", heard.listener([this](InstanceChangedEvent const& event) {
            if (event.event == InstanceEvent::resync) {
                registry.register_instance(ns, an_instance("order"));
            }
        }));
    ASSERT_TRUE(heard.told("register"));
    EXPECT_THAT(heard.lines(), ElementsAre("resync order", "register " + id_of("order")));
}

TEST_F(InstanceEventListening, Defect34_ALostConnectionIsToldAsSoonAsThereIsANewOne) {
    Heard one;
    Heard all;
    auto const first = container.receive(ns, "order", one.listener());
    auto const second = container.receive(ns, all.listener());
    for (std::size_t round = 1; round <= 5; ++round) {
        ASSERT_TRUE(one.told("resync order", round)) << round;
        ASSERT_TRUE(all.told("resync ", round)) << round;
        registry.register_instance(ns, an_instance("order"));
        ASSERT_TRUE(one.told("register", round)) << round;
        ASSERT_TRUE(all.told("register", round)) << round;
        redis().must({"CLIENT", "KILL", "TYPE", "pubsub"});
        listener = Listener{server()};
    }
    ASSERT_TRUE(one.told("resync", 6));
    EXPECT_EQ(one.lines().front(), "resync order");
    EXPECT_EQ(one.lines().back(), "resync order");
    EXPECT_EQ(one.lines().size(), 11u);
}

TEST_F(InstanceEventListening, Defect43_AMessageThatSaysNothingEndsNothing) {
    Heard one;
    Heard all;
    auto const first = container.receive(ns, "order", one.listener());
    auto const second = container.receive(ns, all.listener());
    ASSERT_TRUE(one.told("resync"));
    ASSERT_TRUE(all.told("resync"));
    auto const id = id_of("order");
    publish(id, "hello");
    publish(id, "");
    publish(id, "\xff\xfe");
    publish(id, std::string(10 << 20, 'x'));
    publish("order@", "register");
    publish("order@http#h", "register");
    publish("order@http#h#x", "register");
    publish(id, "REGISTER");
    ASSERT_TRUE(one.told("register"));
    ASSERT_TRUE(all.told("register"));
    EXPECT_THAT(one.lines(), ElementsAre("resync order", "register " + id));
    EXPECT_THAT(all.lines(), ElementsAre("resync ", "register " + id));
    EXPECT_EQ(container.skipped(), 14u);
    EXPECT_TRUE(log.has("unknown payload"));
}

TEST_F(InstanceEventListening, Defect44_NamesWithGlobCharactersMatchThemselvesOnly) {
    std::vector<std::string> const names{"x[1]", "x1",   "*",  "a?",  "ab",
                                         "{b}",  "b\\c", "^d", "[^e]"};
    std::vector<std::unique_ptr<Heard>> heard;
    std::vector<EventSubscription> subscriptions;
    for (auto const& name : names) {
        heard.push_back(std::make_unique<Heard>());
        subscriptions.push_back(container.receive(ns, name, heard.back()->listener()));
    }
    for (auto const& each : heard) ASSERT_TRUE(each->told("resync"));
    for (auto const& name : names) registry.register_instance(ns, an_instance(name));
    settle();
    for (std::size_t i = 0; i < names.size(); ++i) {
        ASSERT_TRUE(heard[i]->told("register")) << names[i];
        EXPECT_THAT(heard[i]->lines(),
                    ElementsAre("resync " + names[i], "register " + id_of(names[i])));
    }
}

TEST_F(InstanceEventListening, Defect44_ANamespaceWithGlobCharactersMatchesItselfOnly) {
    Heard heard;
    auto const subscription = container.receive("n[1]-{*}", heard.listener());
    ASSERT_TRUE(heard.told("resync"));
    publish(id_of("order"), "register", "n1-{x}");
    publish(id_of("web"), "register", "n[1]-{*}");
    ASSERT_TRUE(heard.told("register"));
    EXPECT_THAT(heard.lines(), ElementsAre("resync ", "register " + id_of("web")));
}

TEST_F(InstanceEventListening, Defect45_ANamespaceMayHoldColons) {
    Heard one;
    Heard all;
    Heard shorter;
    auto const first = container.receive("a:b", "order", one.listener());
    auto const second = container.receive("a:b", all.listener());
    auto const third = container.receive("a", shorter.listener());
    for (auto const* heard : {&one, &all, &shorter}) ASSERT_TRUE(heard->told("resync"));
    publish(id_of("order"), "register", "a:b");
    publish(id_of("web"), "register", "a");
    ASSERT_TRUE(one.told("register"));
    ASSERT_TRUE(all.told("register"));
    ASSERT_TRUE(shorter.told("register"));
    EXPECT_EQ(one.events().back().ns, "a:b");
    EXPECT_EQ(all.events().back(), one.events().back());
    EXPECT_EQ(shorter.lines().back(), "register " + id_of("web"));
    EXPECT_EQ(container.skipped(), 0u);
}

TEST_F(InstanceEventListening, AServiceMayHoldWhatPeersHaveStored) {
    Heard plain;
    Heard with_at;
    Heard with_colon;
    auto const first = container.receive(ns, "svc", plain.listener());
    auto const second = container.receive(ns, "svc@b", with_at.listener());
    auto const third = container.receive(ns, "c:svc", with_colon.listener());
    for (auto const* heard : {&plain, &with_at, &with_colon}) ASSERT_TRUE(heard->told("resync"));
    publish("svc@b@http#h#1", "register");
    publish("c:svc@http#h#2", "register");
    publish("svc@http#h#3", "register");
    ASSERT_TRUE(plain.told("register"));
    ASSERT_TRUE(with_at.told("register"));
    ASSERT_TRUE(with_colon.told("register"));
    EXPECT_EQ(plain.lines().back(), "register svc@http#h#3");
    EXPECT_EQ(plain.lines().size(), 2u);
    EXPECT_EQ(with_at.events().back().instance, (InstanceIdParts{"svc@b", "http", "h", 1}));
    EXPECT_EQ(with_colon.events().back().service_name, "c:svc");
    EXPECT_EQ(container.skipped(), 0u) << "none of them is odd";
}

TEST_F(InstanceEventListening, Defect46_AnIdIsToldAsItIsOrNotAtAll) {
    Heard heard;
    auto const subscription = container.receive(ns, heard.listener());
    ASSERT_TRUE(heard.told("resync"));
    publish("@svc@http#h#1", "register");
    publish("svc@http#h#080", "register");
    publish("svc@http##99999", "register");
    ASSERT_TRUE(heard.told("register"));
    EXPECT_THAT(heard.lines(), ElementsAre("resync ", "register svc@http##99999"));
}

TEST_F(InstanceEventListening, WaitsForARedisThatCannotBeReached) {
    RedisServer own;
    Client patient{own.url()};
    RedisInstanceEventListenerContainer waiting{patient, nullptr};
    own.kill();
    Heard heard;
    auto const subscription = waiting.receive(ns, "order", heard.listener());
    EXPECT_THAT(heard.lines(), IsEmpty());
    own.start();
    EXPECT_TRUE(heard.told("resync order"));
}

TEST_F(InstanceEventListening, IsToldOfWhatRedisLetsItHear) {
    redis().must({"ACL", "SETUSER", "deaf", "on", ">pw", "~*", "resetchannels", "+@all"});
    ClientOptions deaf = options();
    deaf.url = "unix://deaf:pw@" + server().socket();
    Client poor{deaf};
    RedisInstanceEventListenerContainer refused{poor, nullptr};
    Heard heard;
    auto const subscription = refused.receive(ns, heard.listener());
    EXPECT_TRUE(eventually([&] { return log.has("NOPERM"); }));
    redis().must({"ACL", "SETUSER", "deaf", "&*"});
    EXPECT_TRUE(heard.told("resync"));
}

/// The rights of docs/cosky-fleets.md.
TEST_F(InstanceEventListening, IsToldOfOneServiceWhereOnlyAllMayBeListenedTo) {
    redis().must({"ACL", "SETUSER", "narrow", "on", ">pw", "~*", "resetchannels",
                  "&" + ns + ":svc_itc:*", "+@all"});
    Client narrow{"unix://narrow:pw@" + server().socket()};
    RedisInstanceEventListenerContainer some{narrow, nullptr};
    Heard heard;
    auto subscription = some.receive(ns, "order", heard.listener());
    ASSERT_TRUE(heard.told("resync order"));
    publish(id_of("web"), "register");
    publish("orders", "hello");
    publish(id_of("web"), std::string(2 << 20, 'x'));
    publish(id_of("order"), "register");
    ASSERT_TRUE(heard.told("register"));
    redis().must({"CLIENT", "KILL", "TYPE", "pubsub"});
    listener = Listener{server()};
    ASSERT_TRUE(heard.told("resync", 2));
    EXPECT_THAT(heard.lines(),
                ElementsAre("resync order", "register " + id_of("order"), "resync order"));
    EXPECT_EQ(some.skipped(), 0u);
    subscription.stop();
    EXPECT_TRUE(eventually([&] { return patterns() == 0; }));
}

TEST_F(InstanceEventListening, BadNamesAreRefused) {
    Heard heard;
    std::string const long_name(2'000, 'x');
    EXPECT_THROW((void)container.receive(" ", heard.listener()), std::invalid_argument);
    EXPECT_THROW((void)container.receive(ns, "", heard.listener()), std::invalid_argument);
    EXPECT_THROW((void)container.receive(ns, long_name, heard.listener()), std::invalid_argument);
    EXPECT_THROW((void)container.receive(long_name, heard.listener()), std::invalid_argument);
    EXPECT_THROW((void)container.receive(ns, InstanceEventListener{}), std::invalid_argument);
}

}  // namespace
}  // namespace rollcall::cosky::test
