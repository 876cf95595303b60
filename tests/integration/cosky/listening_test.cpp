// Listeners that throw, sleep or stop; how subscriptions end.

#include "integration/cosky/listening.hpp"

#include <atomic>
#include <future>
#include <gmock/gmock.h>
#include <optional>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace rollcall::cosky::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

class ListenerContainer : public Listening {
protected:
    std::string const id = id_of("order");
};

TEST_F(ListenerContainer, AListenerThatThrowsIsToldTheNextEvent) {
    Heard heard;
    auto const subscription =
        container.receive(ns, "order", heard.listener([](InstanceChangedEvent const& event) {
            if (event.event != InstanceEvent::expired) throw std::runtime_error{"no luck"};
        }));
    ASSERT_TRUE(heard.told("resync"));
    publish(id, "register");
    publish(id, "expired");
    EXPECT_TRUE(heard.told("expired"));
    EXPECT_EQ(heard.lines().size(), 3u);
    EXPECT_TRUE(log.has("a callback threw: no luck"));
}

TEST_F(ListenerContainer, AListenerThatSleepsGetsOneMarkInsteadOfABacklog) {
    std::promise<void> leave;
    auto const gate = leave.get_future().share();
    Heard heard;
    auto const subscription = container.receive(
        ns, "order", heard.listener([gate](InstanceChangedEvent const&) { gate.wait(); }));
    ASSERT_TRUE(heard.told("resync"));
    auto const channel = DiscoveryKeyGenerator::instance_key(ns, id);
    redis().must({"EVAL", "for i = 1, 10001 do redis.call('PUBLISH', ARGV[1], 'register') end", "0",
                  channel});
    settle();
    leave.set_value();
    ASSERT_TRUE(heard.told("resync", 2));
    publish(id, "expired");
    ASSERT_TRUE(heard.told("expired"));
    EXPECT_THAT(heard.lines(), ElementsAre("resync order", "resync order", "expired " + id));
}

TEST_F(ListenerContainer, AListenerMayStopItselfInside) {
    Heard heard;
    std::optional<EventSubscription> subscription;
    std::promise<void> ready;
    std::promise<void> left;  // What it stops lives here: until then.
    auto const gate = ready.get_future().share();
    subscription = container.receive(
        ns, "order",
        heard.listener([&subscription, &left, gate](InstanceChangedEvent const& event) {
            gate.wait();
            if (event.event != InstanceEvent::registered) return;
            subscription.reset();
            left.set_value();
        }));
    ready.set_value();
    ASSERT_TRUE(heard.told("resync"));
    publish(id, "register");
    publish(id, "expired");
    left.get_future().wait();
    EXPECT_TRUE(eventually([&] { return patterns() == 0; }));
    EXPECT_THAT(heard.lines(), ElementsAre("resync order", "register " + id));
}

TEST_F(ListenerContainer, Defect42_StopWaitsForTheListenerAndNothingIsToldAfterIt) {
    std::promise<void> entered;
    std::promise<void> leave;
    std::atomic<bool> ended = false;
    std::atomic<int> calls = 0;
    auto subscription = container.receive(
        ns, "order", [&, gate = leave.get_future().share()](InstanceChangedEvent const& event) {
            if (event.event == InstanceEvent::resync) return;
            if (++calls == 1) entered.set_value();
            gate.wait();
            ended = true;
        });
    ASSERT_TRUE(eventually([&] { return patterns() == 1; }));
    publish(id, "register");
    entered.get_future().wait();
    std::promise<void> stopping;
    std::thread stopper{[&] {
        stopping.set_value();
        subscription.stop();
        EXPECT_TRUE(ended);
    }};
    stopping.get_future().wait();
    leave.set_value();
    stopper.join();
    publish(id, "register");
    settle();
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(patterns(), 0);
}

TEST_F(ListenerContainer, OneSubscriptionOfManyOnOnePatternMayEnd) {
    Heard one;
    Heard other;
    auto first = container.receive(ns, "order", one.listener());
    auto const second = container.receive(ns, "order", other.listener());
    ASSERT_TRUE(one.told("resync"));
    ASSERT_TRUE(other.told("resync"));
    EXPECT_EQ(patterns(), 1);
    first = EventSubscription{};
    publish(id, "register");
    ASSERT_TRUE(other.told("register"));
    EXPECT_EQ(one.count("register"), 0u);
    EXPECT_EQ(patterns(), 1);
}

TEST_F(ListenerContainer, CloseEndsAllSubscriptionsForGood) {
    Heard heard;
    auto subscription = container.receive(ns, "order", heard.listener());
    auto const second = container.receive(ns, heard.listener());
    ASSERT_TRUE(heard.told("resync", 2));
    container.close();
    EXPECT_TRUE(eventually([&] { return patterns() == 0; }));
    publish(id, "register");
    settle();
    EXPECT_EQ(heard.count("register"), 0u);
    try {
        (void)container.receive(ns, heard.listener());
        FAIL() << "it was closed";
    } catch (Error const& error) {
        EXPECT_EQ(error.code(), errc::closed);
    }
    subscription.stop();
    container.close();
}

TEST_F(ListenerContainer, MayBeClosedInAListener) {
    Heard heard;
    auto const subscription = container.receive(
        ns, "order", heard.listener([this](InstanceChangedEvent const&) { container.close(); }));
    EXPECT_TRUE(heard.told("resync"));
    EXPECT_TRUE(eventually([&] { return patterns() == 0; }));
}

TEST_F(ListenerContainer, ASubscriptionOutlivesContainerAndClient) {
    Heard heard;
    EventSubscription subscription;
    {
        Client short_lived{server().url()};
        RedisInstanceEventListenerContainer gone{short_lived, nullptr};
        subscription = gone.receive(ns, "order", heard.listener());
    }
    ASSERT_TRUE(heard.told("resync"));
    publish(id, "register");
    EXPECT_TRUE(heard.told("register"));
    subscription.stop();
    EXPECT_TRUE(eventually([&] { return patterns() == 0; }));
}

TEST_F(ListenerContainer, WhatAListenerHoldsEndsWithItsSubscription) {
    auto held = std::make_shared<int>();
    std::weak_ptr<int> const watch = held;
    auto subscription = container.receive(ns, "order", [held](InstanceChangedEvent const&) {});
    held.reset();
    EXPECT_FALSE(watch.expired());
    subscription.stop();
    EXPECT_TRUE(watch.expired());
}

TEST_F(ListenerContainer, SubscribingAndStoppingWhileEventsComeLosesNothingAndLeavesNothing) {
    std::atomic<bool> done = false;
    std::thread publisher{[&] {
        RedisClient other{server()};
        auto const channel = DiscoveryKeyGenerator::instance_key(ns, id);
        while (!done) other.must({"PUBLISH", channel, "register"});
    }};
    for (int round = 0; round < 50; ++round) {
        std::atomic<bool> stopped = false;
        std::atomic<int> late = 0;
        Heard heard;
        auto subscription = container.receive(
            ns, "order",
            heard.listener([&](InstanceChangedEvent const&) { late += stopped ? 1 : 0; }));
        EXPECT_TRUE(heard.told("register"));
        EXPECT_EQ(heard.lines().front(), "resync order");
        subscription.stop();
        stopped = true;
        EXPECT_EQ(late, 0);
    }
    done = true;
    publisher.join();
    EXPECT_TRUE(eventually([&] { return patterns() == 0; }));
}

TEST_F(ListenerContainer, AForkedChildListensToNothingAndEndsNothing) {
    Heard heard;
    auto subscription =
        std::make_unique<EventSubscription>(container.receive(ns, "order", heard.listener()));
    ASSERT_TRUE(heard.told("resync"));
    auto const child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        int wrong = 1;
        try {
            (void)container.receive(ns, "web", [](InstanceChangedEvent const&) {});
        } catch (Error const& error) {
            if (error.code() == errc::closed) wrong = 0;
        }
        subscription.reset();
        container.close();
        ::_exit(wrong);
    }
    int status = -1;
    ASSERT_TRUE(eventually([&] { return ::waitpid(child, &status, WNOHANG) == child; }));
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 0);
    publish(id, "register");
    EXPECT_TRUE(heard.told("register"));
}

/// As a user's test would have one.
class FakeContainer final : public InstanceEventListenerContainer {
public:
    EventSubscription receive(std::string_view, std::string_view,
                              InstanceEventListener listener) override {
        told = std::move(listener);
        return EventSubscription{[this] { told = nullptr; }};
    }
    EventSubscription receive(std::string_view space, InstanceEventListener listener) override {
        return receive(space, {}, std::move(listener));
    }
    void close() noexcept override { told = nullptr; }

    InstanceEventListener told;
};

TEST_F(ListenerContainer, MayBeReplacedByOnesOwn) {
    FakeContainer fake;
    Heard heard;
    {
        InstanceEventListenerContainer& used = fake;
        auto const subscription = used.receive(ns, heard.listener());
        fake.told(InstanceChangedEvent{});
    }
    EXPECT_FALSE(fake.told);
    EXPECT_THAT(heard.lines(), ElementsAre("resync "));
}

class ServiceEventListening : public Listening {
protected:
    RedisServiceEventListenerContainer services{client};
};

TEST_F(ServiceEventListening, TellsThatTheListOfServicesChanged) {
    std::mutex mutex;
    std::vector<ServiceChangedEvent> events;
    auto const count = [&] {
        std::lock_guard const lock{mutex};
        return events.size();
    };
    auto const listen = [&](ServiceChangedEvent const& event) {
        std::lock_guard const lock{mutex};
        events.push_back(event);
    };
    auto subscription = services.receive(ns, listen);
    auto const with_colon = services.receive("a:b", listen);
    ASSERT_TRUE(eventually([&] { return count() == 2; }));
    {
        std::lock_guard const lock{mutex};
        EXPECT_EQ(events[0].event, ServiceEvent::resync);
        events.clear();
    }
    registry.set_service(ns, "order");
    registry.set_service("other-{x}", "order");
    registry.remove_service(ns, "order");
    redis().must({"PUBLISH", DiscoveryKeyGenerator::service_idx_key(ns), "what"});
    redis().must({"PUBLISH", DiscoveryKeyGenerator::service_idx_key("a:b"), "register"});
    ASSERT_TRUE(eventually([&] { return count() == 4; }));
    std::lock_guard const lock{mutex};
    EXPECT_THAT(events, UnorderedElementsAre(ServiceChangedEvent{ServiceEvent::changed, ns},
                                             ServiceChangedEvent{ServiceEvent::changed, ns},
                                             ServiceChangedEvent{ServiceEvent::changed, ns},
                                             ServiceChangedEvent{ServiceEvent::changed, "a:b"}));
}

TEST_F(ServiceEventListening, IsClosedAndRefusesBadNames) {
    EXPECT_THROW((void)services.receive("", [](ServiceChangedEvent const&) {}),
                 std::invalid_argument);
    EXPECT_THROW((void)services.receive(ns, ServiceEventListener{}), std::invalid_argument);
    auto const subscription = services.receive(ns, [](ServiceChangedEvent const&) {});
    services.close();
    EXPECT_THROW((void)services.receive(ns, [](ServiceChangedEvent const&) {}), Error);
}

/// Counts what it is told, and fails as often as it is asked to.
class FakeTopology final : public ServiceTopology {
public:
    void add_topology(std::string_view space, std::string_view service) override {
        ++calls;
        if (failures-- > 0) throw Error{errc::timeout, "no answer"};
        std::lock_guard const lock{mutex_};
        added_.push_back(std::string{space} + '.' + std::string{service});
    }
    void add_topology(std::string_view, std::string_view, std::error_code&) override {}
    Topology topology(std::string_view) override { return {}; }
    Topology topology(std::string_view, std::error_code&) override { return {}; }

    std::vector<std::string> all() {
        std::lock_guard const lock{mutex_};
        return added_;
    }

    std::atomic<int> calls = 0;
    std::atomic<int> failures = 0;

private:
    std::mutex mutex_;
    std::vector<std::string> added_;  // Guarded by the mutex.
};

class EdgesOfSubscriptions : public Listening {};

TEST_F(EdgesOfSubscriptions, AreRecordedByDefaultForEachServiceListenedTo) {
    RedisInstanceEventListenerContainer recording{client};
    Heard heard;
    auto const first = recording.receive(ns, "order", heard.listener());
    auto const second = recording.receive("other-{x}", "stock", heard.listener());
    auto const third = recording.receive(ns, heard.listener());
    ASSERT_TRUE(heard.told("resync", 3));
    EXPECT_EQ(RedisServiceTopology{client}.topology(ns),
              (Topology{{"_Client_", {"order", "other-{x}.stock"}}}));
}

TEST_F(EdgesOfSubscriptions, AreThoseOfTheInstanceThatThisProcessIs) {
    ServiceInstanceContext context;
    TopologyOptions topology;
    topology.instance = context;
    RedisInstanceEventListenerContainer recording{
        client, std::make_shared<RedisServiceTopology>(client, NamespacedContext{}, topology)};
    Heard heard;
    auto const first = recording.receive(ns, "a", heard.listener());
    ASSERT_TRUE(heard.told("resync a"));
    context.set_current(an_instance("gateway"));
    EXPECT_EQ(context.current()->instance_id, id_of("gateway"));
    auto const second = recording.receive(ns, "b", heard.listener());
    auto const own = recording.receive(ns, "gateway", heard.listener());
    ASSERT_TRUE(heard.told("resync b"));
    ASSERT_TRUE(heard.told("resync gateway"));
    context.set_current(std::nullopt);
    auto const third = recording.receive(ns, "c", heard.listener());
    ASSERT_TRUE(heard.told("resync c"));
    EXPECT_EQ(RedisServiceTopology{client}.topology(ns),
              (Topology{{"_Client_", {"a", "c"}}, {"gateway", {"b"}}}));
    EXPECT_THROW(context.set_current(ServiceInstance{}), std::invalid_argument);
}

TEST_F(EdgesOfSubscriptions, AreRecordedOnceAndAgainUntilTheyAre) {
    auto const fake = std::make_shared<FakeTopology>();
    fake->failures = 1;
    RedisInstanceEventListenerContainer recording{client, fake};
    Heard heard;
    auto const subscription = recording.receive(ns, "order", heard.listener());
    for (std::size_t round = 1; round <= 3; ++round) {
        ASSERT_TRUE(heard.told("resync", round));
        redis().must({"CLIENT", "KILL", "TYPE", "pubsub"});
    }
    ASSERT_TRUE(heard.told("resync", 4));
    listener = Listener{server()};
    EXPECT_EQ(fake->calls, 2);
    EXPECT_THAT(fake->all(), ElementsAre(ns + ".order"));
    EXPECT_TRUE(log.has("the use of order in " + ns + " was not recorded"));
}

TEST_F(EdgesOfSubscriptions, WhatCannotBeRecordedIsToldAndListenedTo) {
    RedisInstanceEventListenerContainer recording{client};
    Heard heard;
    auto const subscription = recording.receive("a:b", "order", heard.listener());
    EXPECT_TRUE(heard.told("resync"));
    EXPECT_TRUE(log.has("the use of order in a:b was not recorded"));
    EXPECT_THAT(keys(), IsEmpty());
}

}  // namespace
}  // namespace rollcall::cosky::test
