#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include "integration/live/fixture.hpp"

namespace rollcall::live::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class LiveService : public LiveTest {};

TEST_P(LiveService, AnUnknownNameIsLiveAndEmptyUntilSomebodyComes) {
    auto const registry = reader();
    auto const service = watched(registry);
    EXPECT_TRUE(service.instances().empty());
    EXPECT_LE(service.age(), 1s);
    EXPECT_FALSE(service.choose());
    Owners owners{server.url(), layout()};
    owners.add(instance(1));
    EXPECT_TRUE(shows(service, {id(1)}));
    EXPECT_EQ(service.choose()->instance_id, id(1));
}

TEST_P(LiveService, TheFirstCallWaitsForTheFirstLoad) {
    Owners owners{server.url(), layout()};
    owners.add(instance(1));
    owners.add(instance(2));
    auto const service = reader().service("web");
    EXPECT_EQ(ids_of(service.instances()), (std::vector{id(1), id(2)}));
}

TEST_P(LiveService, ShowsWhatTheSameRegistryAnnounces) {
    auto const registry = reader();
    auto const service = watched(registry);
    {
        auto const announced = registry.announce(instance(1));
        EXPECT_TRUE(shows(service, {id(1)}));
        EXPECT_TRUE(eventually([&] { return announced.registered(); }));
        EXPECT_THROW((void)registry.announce(instance(1)), std::invalid_argument);
    }
    EXPECT_TRUE(shows(service, {}));
}

TEST_P(LiveService, TellsEachChangeOnceAndWhy) {
    Owners owners{server.url(), layout()};
    owners.add(instance(1));
    auto const registry = reader();
    auto const service = watched(registry);
    Heard heard;
    auto const watch = service.on_change(heard.listener());
    EXPECT_TRUE(eventually([&] { return heard.has("current " + id(1)); }));
    owners.add(instance(2));
    EXPECT_TRUE(shows(service, {id(1), id(2)}));
    owners.set_metadata(id(2), {{"zone", "b"}});
    EXPECT_TRUE(eventually([&] { return heard.has("updated " + id(2)); }));
    EXPECT_EQ(service.instances().find(id(2))->metadata.at("zone"), "b");
    owners.remove(id(1));
    EXPECT_TRUE(shows(service, {id(2)}));
    EXPECT_TRUE(eventually([&] { return heard.size() >= 4; }));
    EXPECT_THAT(heard.all(), ElementsAre("current " + id(1), "added " + id(2), "updated " + id(2),
                                         "removed " + id(1) + " (deregistered)"));
}

TEST_P(LiveService, ARenewalIsNoChangeAndIsSeenAllTheSame) {
    Owners owners{server.url(), layout(2s)};
    owners.add(instance(1));
    auto const registry = reader(2s);
    auto const service = watched(registry);
    Heard heard;
    auto const watch = service.on_change(heard.listener());
    auto const revision = service.instances().revision();
    auto const lease = *service.instances().state(id(1))->lease_until;
    // Longer than the lease, so that the reader has to ask.
    EXPECT_TRUE(eventually(
        [&] {
            owners.renew(id(1));
            return *service.instances().state(id(1))->lease_until > lease + 1s;
        },
        10s));
    EXPECT_EQ(service.instances().revision(), revision);
    EXPECT_THAT(heard.all(), ElementsAre("current " + id(1)));
}

TEST_P(LiveService, WhoStopsRenewingLeavesWithTheLease) {
    Owners owners{server.url(), layout(2s)};
    owners.add(instance(1));
    auto const registry = reader(2s);
    auto const service = watched(registry);
    Heard heard;
    auto const watch = service.on_change(heard.listener());
    EXPECT_EQ(ids_of(service.instances()), std::vector{id(1)});
    auto const ends = *service.instances().state(id(1))->lease_until;
    EXPECT_TRUE(shows(service, {}));
    auto const late = std::chrono::steady_clock::now() - ends;
    EXPECT_GT(late, -50ms) << "not before its time";
    EXPECT_LT(late, 2s);
    EXPECT_TRUE(eventually([&] { return heard.has("removed " + id(1) + " (expired)"); }));
}

TEST_P(LiveService, ASnapshotStaysAsItWas) {
    Owners owners{server.url(), layout()};
    owners.add(instance(1));
    Snapshot before;
    Choice chosen;
    {
        Client passing{server.url()};
        auto const service = Registry{passing, layout()}.service("web");
        before = service.instances();
        chosen = service.choose();
        owners.remove(id(1));
        EXPECT_TRUE(shows(service, {}));
    }
    EXPECT_EQ(ids_of(before), std::vector{id(1)});
    EXPECT_EQ(chosen->port, 8081);
}

TEST_P(LiveService, NamesOfGlobsAreNames) {
    Owners owners{server.url(), layout()};
    std::string const name = "we[b]*";
    auto const registry = reader();
    auto const service = watched(registry, name);
    auto const plain = watched(registry, "web");
    owners.add(instance(1, name));
    EXPECT_TRUE(shows(service, {id(1, name)}));
    owners.add(instance(2, "web"));
    EXPECT_TRUE(shows(plain, {id(2, "web")}));
    EXPECT_EQ(ids_of(service.instances()), std::vector{id(1, name)});
}

TEST_P(LiveService, UnusedServicesAreLetGo) {
    RegistryOptions given;
    given.unused_for = 50ms;
    auto const registry = reader(60s, given);
    auto const subscriptions = [&] {
        return admin.must({"PUBSUB", "NUMPAT"}).integer +
               static_cast<long long>(admin.must({"PUBSUB", "CHANNELS"}).elements.size());
    };
    {
        auto const service = watched(registry);
        auto const same = registry.service("web");
        EXPECT_EQ(subscriptions(), 1);
        EXPECT_FALSE(eventually([&] { return subscriptions() == 0; }, 200ms)) << "it is in use";
    }
    EXPECT_TRUE(eventually([&] { return subscriptions() == 0; }));
    EXPECT_TRUE(watched(registry).instances().empty()) << "and watched again";
}

TEST_P(LiveService, WhoReadsByNameNeedsNoHandle) {
    Owners owners{server.url(), layout()};
    owners.add(instance(1));
    RegistryOptions given;
    given.unused_for = 200ms;
    auto const registry = reader(60s, given);
    EXPECT_EQ(ids_of(registry.instances("web")), std::vector{id(1)});
    owners.add(instance(2));
    auto const both = [&] { return registry.instances("web").size() == 2; };
    EXPECT_TRUE(eventually(both)) << "it is watched";
    auto const first = registry.stats().resyncs;
    auto const end = std::chrono::steady_clock::now() + 3 * given.unused_for;
    EXPECT_TRUE(eventually([&] {
        std::error_code error;
        EXPECT_EQ(registry.instances("web", error).size(), 2U);
        return std::chrono::steady_clock::now() > end;
    })) << "and goes on for as long as somebody asks";
    EXPECT_EQ(registry.stats().resyncs, first);
    EXPECT_TRUE(eventually([&] { return registry.stats().services == 0; })) << "and no longer";
    EXPECT_EQ(registry.instances("web").size(), 2U) << "it is read again";
    EXPECT_THROW((void)registry.instances(""), std::invalid_argument);
}

TEST_P(LiveService, AFailureIsNeverAnEmptyListByName) {
    server.kill();
    auto settings = options();
    settings.request_timeout = 100ms;
    Client const other{settings};
    Registry const registry{other, layout()};
    for (int i = 0; i < 2; ++i) {
        std::error_code error;
        EXPECT_TRUE(registry.instances("web", error).empty());
        EXPECT_TRUE(error) << "call " << i;
        EXPECT_THROW((void)registry.instances("web"), Error);
    }
    server.start();
    EXPECT_TRUE(eventually([&] {
        std::error_code error;
        (void)registry.instances("web", error);
        return !error;
    }));
}

TEST_P(LiveService, ManyServicesShareTwoConnections) {
    auto const registry = reader();
    std::vector<Service> services;
    for (int number = 0; number < 1'000; ++number) {
        services.push_back(registry.service("web" + std::to_string(number)));
    }
    for (auto const& service : services) EXPECT_TRUE(service.instances().empty());
    EXPECT_TRUE(eventually([&] {
        return std::ranges::none_of(services, [](auto const& one) { return one.stale(); });
    }));
    auto const clients = admin.must({"CLIENT", "LIST"}).text;
    EXPECT_EQ(std::ranges::count(clients, '\n'), 3) << "ours are two:\n" << clients;
    Owners owners{server.url(), layout()};
    owners.add(instance(1, "web999"));
    EXPECT_TRUE(shows(services[999], {id(1, "web999")}));
}

TEST_P(LiveService, RegistriesListTheNamesOfServices) {
    auto const registry = reader();
    EXPECT_THAT(registry.services(), IsEmpty());
    Owners owners{server.url(), layout()};
    owners.add(instance(1, "web"));
    owners.add(instance(1, "orders"));
    EXPECT_THAT(registry.services(), ElementsAre("orders", "web"));
}

TEST_P(LiveService, BadNamesAreRefusedBeforeAnythingIsSent) {
    auto const registry = reader();
    EXPECT_THROW((void)registry.service(""), std::invalid_argument);
    EXPECT_THROW((void)registry.service(" \t"), std::invalid_argument);
    EXPECT_THROW((void)registry.service(std::string(65'536, 'x')), std::invalid_argument);
    ServiceOptions reads;
    for (auto const age : {-1ms, 0ms, milliseconds::max()}) {
        reads.max_age = age;
        EXPECT_THROW((void)registry.service("web", reads), std::invalid_argument);
    }
    RegistryOptions given;
    given.unused_for = -1ms;
    EXPECT_THROW((void)reader(60s, given), std::invalid_argument);
    given.unused_for = 1s;
    given.heartbeat = 60s;
    EXPECT_THROW((void)reader(60s, given), std::invalid_argument) << "as long as the lease";
}

TEST_P(LiveService, MessagesThatCannotBeReadAreCountedAndTold) {
    Owners owners{server.url(), layout()};
    owners.add(instance(1));
    auto const registry = reader();
    auto const service = watched(registry);
    for (auto const* const payload : {"gossip", "\x01{\xff", ""}) {
        admin.must({"PUBLISH", owners.channel(id(1)), payload});
    }
    EXPECT_TRUE(eventually([&] { return registry.stats().unreadable == 3; }));
    EXPECT_TRUE(log.has("could not be read"));
    EXPECT_TRUE(shows(service, {id(1)}));
}

TEST_P(LiveService, WhatCannotBeReadIsTold) {
    Owners owners{server.url(), layout()};
    owners.add(instance(1));
    owners.add(instance(2));
    for (auto const& key : admin.must({"KEYS", "*" + id(2) + "*"}).texts()) {
        admin.must({"HSET", key, "port", "gossip"});
    }
    auto const registry = reader();
    EXPECT_THAT(ids_of(registry.service("web").instances()), ElementsAre(id(1)));
    EXPECT_TRUE(log.has(id(2) + " of web cannot be read"));
}

TEST_P(LiveService, AForkedChildReadsWhatWasKnownAndIsToldTheRest) {
    auto const registry = reader();
    auto const service = watched(registry);
    (void)registry.instances("web");
    auto const child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        int wrong = 0;
        try {
            std::error_code error;
            (void)registry.instances("web", error);
            if (error) wrong |= 1;
            (void)registry.instances("new", error);
            if (error != errc::closed) wrong |= 2;
            (void)registry.services(error);
            if (error != errc::closed) wrong |= 4;
            (void)service.instances(error);
            if (error) wrong |= 8;
        } catch (std::exception const&) {
            wrong |= 16;
        }
        ::_exit(wrong);
    }
    int status = -1;
    ASSERT_TRUE(eventually([&] { return ::waitpid(child, &status, WNOHANG) == child; }));
    ASSERT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 0);
}

INSTANTIATE_TEST_SUITE_P(Layouts, LiveService, testing::Values("streaming", "cosky"),
                         [](auto const& of) { return std::string{of.param}; });

}  // namespace
}  // namespace rollcall::live::test
