// What users of other registries reported of outages, from the side of those who look up.
#include <csignal>
#include <future>
#include <gmock/gmock.h>

#include "integration/live/fixture.hpp"

namespace rollcall::live::test {
namespace {

using testing::AnyOf;
using testing::Contains;

class LiveOutage : public LiveTest {};

TEST_P(LiveOutage, ARestartedEmptyRedisHidesNobody) {
    Owners owners{server.url(), layout()};
    owners.add(instance(1));
    owners.add(instance(2));
    auto const registry = reader();
    auto const service = watched(registry);
    Heard heard;
    auto const watch = service.on_change(heard.listener());
    server.kill();
    EXPECT_TRUE(eventually([&] { return service.stale(); }, 2s));
    EXPECT_EQ(service.instances().size(), 2);
    server.start();
    EXPECT_TRUE(eventually([&] { return is_suspect(service, id(1)); }));
    EXPECT_EQ(service.instances().size(), 2);
    owners.write_epoch();
    owners.add(instance(1));
    EXPECT_TRUE(eventually([&] { return !is_suspect(service, id(1)); }));
    EXPECT_TRUE(is_suspect(service, id(2)));
    for (int draw = 0; draw < 20; ++draw) EXPECT_EQ(service.choose()->instance_id, id(1));
    EXPECT_EQ(service.instances().size(), 2);
    EXPECT_TRUE(heard.has("suspect " + id(2)));
    EXPECT_EQ(registry.stats().instances, 2U);
    EXPECT_EQ(registry.stats().suspects, 1U);
    EXPECT_GE(registry.stats().resyncs, 2U);
    EXPECT_THAT(heard.all(), Not(Contains(testing::HasSubstr("removed"))));
}

TEST_P(LiveOutage, WhoIsLostForALeaseIsLost) {
    Owners owners{server.url(), layout(1s)};
    owners.add(instance(1));
    auto const registry = reader(1s);
    auto const service = watched(registry);
    Heard heard;
    auto const watch = service.on_change(heard.listener());
    EXPECT_EQ(service.instances().size(), 1);
    server.kill();
    server.start();
    EXPECT_TRUE(shows(service, {}));
    EXPECT_TRUE(eventually([&] { return heard.has("removed " + id(1) + " (lost)"); }));
    EXPECT_THAT(heard.all(), Contains("suspect " + id(1)));
    EXPECT_EQ(registry.stats().instances, 0U);
    EXPECT_EQ(registry.stats().suspects, 0U);
}

TEST_P(LiveOutage, AFlushIsNoticedAtOnceAndHidesNobody) {
    Owners owners{server.url(), layout()};
    owners.add(instance(1));
    auto const registry = reader();
    auto const service = watched(registry);
    EXPECT_EQ(service.instances().size(), 1);
    admin.must({"FLUSHALL"});
    EXPECT_TRUE(eventually([&] { return is_suspect(service, id(1)); }, 1'500ms));
    EXPECT_EQ(service.instances().size(), 1);
}

TEST_P(LiveOutage, ARestartWithItsDataChangesNothing) {
    Owners owners{server.url(), layout()};
    owners.add(instance(1));
    auto const registry = reader();
    auto const service = watched(registry);
    Heard heard;
    auto const watch = service.on_change(heard.listener());
    EXPECT_TRUE(eventually([&] { return heard.size() == 1; }));
    admin.must({"SAVE"});
    server.kill();
    EXPECT_TRUE(eventually([&] { return service.stale(); }, 2s));
    server.start();
    EXPECT_TRUE(eventually([&] { return !service.stale(); }));
    EXPECT_THAT(heard.all(), testing::ElementsAre("current " + id(1)));
    EXPECT_FALSE(is_suspect(service, id(1)));
}

TEST_P(LiveOutage, MessagesLostWithAConnectionAreMadeUpFor) {
    Owners owners{server.url(), layout()};
    owners.add(instance(1));
    owners.add(instance(2));
    auto const registry = reader();
    auto const service = watched(registry);
    EXPECT_EQ(service.instances().size(), 2);
    admin.must({"MULTI"});
    admin.must({"CLIENT", "KILL", "TYPE", "pubsub"});
    // What happens before the next subscription nobody is told.
    admin.must({"PUBLISH", "nobody", "hears"});
    admin.must({"EXEC"});
    owners.add(instance(3));
    owners.remove(id(1));
    EXPECT_TRUE(shows(service, {id(2), id(3)}));
}

TEST_P(LiveOutage, AReaderThatStartsWhileRedisIsDownComesBackByItself) {
    server.kill();
    ClientOptions quick = options();
    quick.request_timeout = 100ms;
    Client late{quick};
    Registry const registry{late, layout()};
    auto const service = registry.service("web");
    std::error_code error;
    EXPECT_TRUE(service.instances(error).empty());
    EXPECT_THAT(error, AnyOf(make_error_code(errc::not_connected), make_error_code(errc::timeout)))
        << error.message();
    EXPECT_THROW((void)service.choose(), Error);
    server.start();
    Owners owners{server.url(), layout()};
    owners.add(instance(1));
    EXPECT_TRUE(eventually([&] { return service.instances(error).size() == 1; }));
    EXPECT_FALSE(error);
}

TEST_P(LiveOutage, WhoAsksOnWhileRedisIsAwayIsToldAtOnceWhy) {
    server.kill();
    ClientOptions given = options();
    given.request_timeout = 1s;
    Client const late{given};
    Registry const registry{late, layout()};
    auto const service = registry.service("web");
    std::error_code error;
    EXPECT_GT(time_of([&] { (void)service.choose(error); }), 500ms) << "Redis may be on its way";
    EXPECT_EQ(error, errc::not_connected) << error.message();
    EXPECT_TRUE(eventually([&] { return time_of([&] { (void)service.choose(error); }) < 200ms; }));
    EXPECT_LT(time_of([&] {
                  for (int i = 0; i < 20; ++i) {
                      auto const name = "other" + std::to_string(i);
                      EXPECT_TRUE(registry.instances(name, error).empty());
                      EXPECT_EQ(error, errc::not_connected) << error.message();
                  }
              }),
              5s);
    try {
        (void)registry.instances("another");
        FAIL() << "Redis is away";
    } catch (Error const& why) {
        EXPECT_THAT(why.detail(), testing::HasSubstr("service another: " + server.url()));
        EXPECT_THAT(why.detail(), testing::Not(testing::HasSubstr("in time")));
    }
    server.start();
    EXPECT_TRUE(eventually([&] { return service.instances(error).empty() && !error; }));
}

TEST_P(LiveOutage, TheFirstCallWaitsForARedisThatComes) {
    server.kill();
    ClientOptions given = options();
    given.request_timeout = 10s;
    Client const early{given};
    Registry const registry{early, layout()};
    auto asked = std::async(std::launch::async, [&] {
        std::error_code error;
        (void)registry.instances("web", error);
        return error;
    });
    // Until some attempts have failed, as far as the time goes.
    EXPECT_FALSE(
        eventually([&] { return asked.wait_for(0s) == std::future_status::ready; }, 700ms));
    server.start();
    auto const error = asked.get();
    EXPECT_FALSE(error) << error.message();
}

TEST_P(LiveOutage, WhoWaitsForATurnIsToldWhyRedisSaysNothing) {
    server.kill();
    ClientOptions given = options();
    given.request_timeout = 1s;
    Client const late{given};
    Registry const registry{late, layout()};
    std::vector<Service> many;  // Some of them are read, the others wait for their turn.
    for (int i = 0; i < 100; ++i) many.push_back(registry.service("web" + std::to_string(i)));
    for (auto const& service : many) {
        std::error_code error;
        EXPECT_TRUE(service.instances(error).empty());
        EXPECT_EQ(error, errc::not_connected) << service.name() << ": " << error.message();
    }
}

TEST_P(LiveOutage, TheLastGoodAnswerHasAnAgeOrIsAnErrorAsChosen) {
    Owners owners{server.url(), layout()};
    owners.add(instance(1));
    auto const registry = reader();
    auto const service = watched(registry);
    ServiceOptions strict;
    strict.on_failure = ServiceOptions::OnFailure::error;
    strict.max_age = 1'500ms;
    auto const checked = watched(registry, "web", strict);
    EXPECT_LE(service.age(), 1s);
    EXPECT_EQ(checked.instances().size(), 1);
    server.kill();
    std::error_code error;
    EXPECT_TRUE(eventually([&] { return checked.instances(error).empty(); }));
    EXPECT_EQ(error, errc::not_connected) << error.message();
    EXPECT_GT(service.age(), 1'400ms);
    EXPECT_EQ(service.instances().size(), 1);
    server.start();
    EXPECT_TRUE(eventually([&] { return service.age() <= 1s; }));
}

TEST_P(LiveOutage, AHangingRedisIsNoticedWithinASecondOrTwo) {
    Owners owners{server.url(), layout()};
    owners.add(instance(1));
    auto const registry = reader();
    auto const service = watched(registry);
    server.signal(SIGSTOP);
    EXPECT_TRUE(eventually([&] { return service.stale(); }, 3s));
    EXPECT_EQ(service.instances().size(), 1);
    server.signal(SIGCONT);
    EXPECT_TRUE(eventually([&] { return !service.stale(); }));
}

TEST_P(LiveOutage, OneDescriptionDeletedByHandMakesASuspectOfOne) {
    Owners owners{server.url(), layout()};
    owners.add(instance(1));
    owners.add(instance(2));
    auto const registry = reader();
    auto const service = watched(registry);
    auto const keys = admin.must({"KEYS", "*" + id(1)}).texts();
    ASSERT_EQ(keys.size(), 1);
    admin.must({"DEL", keys[0]});
    // Anything makes us look; a flood of it does not keep us from an end.
    EXPECT_TRUE(eventually([&] {
        for (int i = 0; i < 20; ++i) admin.must({"PUBLISH", owners.channel(id(1)), "?"});
        return is_suspect(service, id(1));
    }));
    EXPECT_FALSE(is_suspect(service, id(2)));
    EXPECT_EQ(service.instances().size(), 2);
}

TEST_P(LiveOutage, GarbageOnTheChannelHidesNobody) {
    Owners owners{server.url(), layout()};
    owners.add(instance(1));
    auto const registry = reader();
    auto const service = watched(registry);
    for (auto const& payload : {std::string{}, std::string{"\xff\0{", 3}, std::string{"{\"a\":"},
                                std::string(10 << 20, 'x'), std::string{"register"}}) {
        admin.must({"PUBLISH", owners.channel(id(1)), payload});
        admin.must({"PUBLISH", owners.channel(id(1), "web") + "#x", payload});
    }
    owners.add(instance(2));
    EXPECT_TRUE(shows(service, {id(1), id(2)}));
    EXPECT_FALSE(is_suspect(service, id(1)));
}

INSTANTIATE_TEST_SUITE_P(Layouts, LiveOutage, testing::Values("streaming", "cosky"),
                         [](auto const& of) { return std::string{of.param}; });

}  // namespace
}  // namespace rollcall::live::test
