#include <gmock/gmock.h>
#include <map>

#include "integration/live/fixture.hpp"

namespace rollcall::live::test {
namespace {

class LiveNamespace : public LiveTest {
protected:
    /// As after each reconnect, once the readings are done that this brings.
    void read_the_names_again() {
        auto const began = log.count("connected for pushes");
        admin.must({"CLIENT", "KILL", "TYPE", "pubsub"});
        EXPECT_TRUE(eventually([&] { return log.count("connected for pushes") > began; }));
    }
    long long subscriptions() {
        return admin.must({"PUBSUB", "NUMPAT"}).integer +
               static_cast<long long>(admin.must({"PUBSUB", "CHANNELS"}).elements.size());
    }
};

/// Told of all services.
class HeardOfAll {
public:
    auto listener() {
        return [this](std::string const& service, Change const& change) {
            std::lock_guard const lock{mutex_};
            auto line = service + ": " + std::string{to_string(change.kind)};
            if (change.instance) line += " " + change.instance->instance_id;
            lines_.push_back(std::move(line));
        };
    }
    std::vector<std::string> all() {
        std::lock_guard const lock{mutex_};
        return lines_;
    }
    bool has(std::string const& line) {
        auto const lines = all();
        return std::ranges::find(lines, line) != lines.end();
    }

private:
    std::mutex mutex_;
    std::vector<std::string> lines_;
};

TEST_P(LiveNamespace, AllServicesAreWatchedWithOneSubscription) {
    Owners owners{server.url(), layout()};
    for (int number = 1; number <= 50; ++number) {
        owners.add(instance(1, "web" + std::to_string(number)));
    }
    auto const registry = reader();
    HeardOfAll heard;
    auto const watch = registry.on_change(heard.listener());
    EXPECT_TRUE(eventually([&] { return heard.all().size() == 50; }));
    EXPECT_TRUE(heard.has("web7: current " + id(1, "web7")));
    EXPECT_EQ(subscriptions(), 1);
    auto const service = watched(registry, "web7");
    EXPECT_EQ(subscriptions(), 1) << "it is watched already";
    owners.add(instance(2, "web7"));
    EXPECT_TRUE(shows(service, {id(1, "web7"), id(2, "web7")}));
    EXPECT_TRUE(eventually([&] { return heard.has("web7: added " + id(2, "web7")); }));
}

TEST_P(LiveNamespace, NoThreadOutlivesItsEnd) {
    Owners owners{server.url(), layout()};
    owners.add(instance(1));
    for (int round = 0; round < 100; ++round) {
        auto held = std::make_shared<int>(round);  // Until the I/O thread has ended.
        {
            auto given = options();
            given.log = [held](LogLevel, std::string_view) {};
            Client const own{given};
            Registry const registry{own, layout()};
            HeardOfAll heard;
            auto const watch = registry.on_change(heard.listener());
            auto const service = registry.service("web");
            if (round % 2 == 0) {
                ASSERT_TRUE(eventually([&] { return !heard.all().empty(); }));
            }
        }
        ASSERT_EQ(held.use_count(), 1) << "round " << round;
    }
}

TEST_P(LiveNamespace, ANewServiceIsFoundByItsMessage) {
    auto const registry = reader();
    HeardOfAll heard;
    auto const watch = registry.on_change(heard.listener());
    ASSERT_TRUE(eventually([&] { return subscriptions() == 1; }));
    Owners owners{server.url(), layout()};
    owners.add(instance(1, "fresh"));
    EXPECT_TRUE(eventually([&] { return heard.has("fresh: added " + id(1, "fresh")); }, 2s));
    owners.remove(id(1, "fresh"), "fresh");
    EXPECT_TRUE(eventually([&] { return heard.has("fresh: removed " + id(1, "fresh")); }, 2s));
}

TEST_P(LiveNamespace, WhatWasMissedIsReadAfterAReconnect) {
    Owners owners{server.url(), layout()};
    owners.add(instance(1, "old"));
    auto const registry = reader();
    HeardOfAll heard;
    auto const watch = registry.on_change(heard.listener());
    EXPECT_TRUE(eventually([&] { return heard.has("old: current " + id(1, "old")); }));
    auto const service = watched(registry, "old");
    admin.must({"SAVE"});
    server.kill();
    EXPECT_TRUE(eventually([&] { return service.stale(); }));
    server.start();
    owners.add(instance(1, "fresh"));
    EXPECT_TRUE(eventually([&] { return heard.has("fresh: added " + id(1, "fresh")); }));
    // Before that, nobody could tell that it is not lost.
    EXPECT_TRUE(eventually([&] { return !service.stale(); }));
    owners.remove(id(1, "old"), "old");
    EXPECT_TRUE(eventually([&] { return heard.has("old: removed " + id(1, "old")); }));
}

TEST_P(LiveNamespace, AWatchThatEndedIsNotCalled) {
    Owners owners{server.url(), layout()};
    auto const registry = reader();
    HeardOfAll heard;
    HeardOfAll others;
    auto watch = registry.on_change(heard.listener());
    auto const other = registry.on_change(others.listener());
    owners.add(instance(1));
    EXPECT_TRUE(eventually([&] { return heard.all().size() == 1 && others.all().size() == 1; }));
    watch.stop();
    owners.add(instance(2));
    EXPECT_TRUE(eventually([&] { return others.all().size() == 2; }));
    EXPECT_EQ(heard.all().size(), 1U);
}

TEST_P(LiveNamespace, ServicesThatAreGoneAreLetGo) {
    RegistryOptions given;
    given.unused_for = 50ms;
    auto const registry = reader(60s, given);
    HeardOfAll heard;
    auto const watch = registry.on_change(heard.listener());
    ASSERT_TRUE(eventually([&] { return subscriptions() == 1; }));
    Owners owners{server.url(), layout()};
    auto const name = [](int number) { return "web" + std::to_string(number); };
    for (int i = 1; i <= 20; ++i) owners.add(instance(1, name(i)));
    EXPECT_TRUE(eventually([&] { return heard.all().size() == 20; }));
    for (int i = 2; i <= 20; ++i) owners.remove(id(1, name(i)), name(i));
    EXPECT_TRUE(eventually([&] { return heard.all().size() == 39; }));
    EXPECT_EQ(registry.stats().services, 20U);
    // In CoSky a name is listed until somebody removes the service.
    for (int i = 2; i <= 20; ++i) admin.must({"SREM", "{ns}:svc_idx", name(i)});
    read_the_names_again();
    EXPECT_TRUE(eventually([&] { return registry.stats().services == 1; }))
        << registry.stats().services;
    owners.add(instance(1, "web20"));
    EXPECT_TRUE(eventually([&] { return heard.all().size() == 40; }, 2s)) << "and back";
}

TEST_P(LiveNamespace, AServiceThatWasLetGoIsToldOfAtOnceWhenItIsBack) {
    Owners owners{server.url(), layout()};
    owners.add(instance(1));
    auto const registry = reader();
    HeardOfAll heard;
    auto const watch = registry.on_change(heard.listener());
    EXPECT_TRUE(eventually([&] { return heard.has("web: current " + id(1)); }));
    owners.remove(id(1));
    EXPECT_TRUE(eventually([&] { return heard.has("web: removed " + id(1)); }));
    read_the_names_again();
    owners.add(instance(2));
    EXPECT_TRUE(eventually([&] { return heard.has("web: added " + id(2)); }, 2s))
        << "it is watched all the while";
}

TEST_P(LiveNamespace, AServiceThatSomebodyAwaitsIsToldOfAtOnce) {
    auto const registry = reader();
    HeardOfAll heard;
    auto const watch = registry.on_change(heard.listener());
    ASSERT_TRUE(eventually([&] { return subscriptions() == 1; }));
    auto const service = watched(registry);
    Owners owners{server.url(), layout()};
    owners.add(instance(1));
    EXPECT_TRUE(eventually([&] { return heard.has("web: added " + id(1)); }, 2s));
}

INSTANTIATE_TEST_SUITE_P(Layouts, LiveNamespace, testing::Values("streaming", "cosky"),
                         [](auto const& of) { return std::string{of.param}; });

}  // namespace
}  // namespace rollcall::live::test
