#include <atomic>
#include <future>
#include <memory>
#include <optional>
#include <stdexcept>
#include <thread>

#include "integration/streaming/subscription_fixture.hpp"

namespace rollcall::streaming::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

using Subscriptions = SubscriptionTest;

TEST_F(Subscriptions, BeginWithWhatIsThereInTheOrderOfLists) {
    store("a", 1'000);
    store("b", 3'000);
    store("c", 2'000);
    HeardChanges heard;
    consumer.subscribe("orders", heard.listener());
    EXPECT_THAT(told(heard), ElementsAre("current b of [a, b, c]", "current c of [a, b, c]",
                                         "current a of [a, b, c]"));
    EXPECT_EQ(ids_of(consumer.healthy_instances("orders")),
              (std::vector<std::string>{"b", "c", "a"}));
}

TEST_F(Subscriptions, TellEveryChangeInOrder) {
    HeardChanges heard;
    consumer.subscribe("orders", heard.listener());
    add("o-1");
    add("o-2");
    add("o-1");
    remove("o-2");
    auto changed = an_instance("orders", "o-1");
    changed.metadata = {{"a", "b"}};
    provider.register_instance(changed);
    ASSERT_TRUE(eventually([&] { return heard.size() == 5; }));
    std::vector<std::string> actions;
    for (auto const& change : heard.all()) {
        EXPECT_EQ(change.service, "orders");
        ASSERT_TRUE(change.instance);
        actions.push_back(std::string{value(change.action)} + ' ' + change.instance->instance_id);
    }
    EXPECT_THAT(actions,
                ElementsAre("added o-1", "added o-2", "updated o-1", "removed o-2", "updated o-1"));
    EXPECT_EQ(heard.all().back().instance, changed);
    EXPECT_THAT(heard.all().back().all, ElementsAre("o-1"));
}

TEST_F(Subscriptions, AreToldWhatHappensOnceSubscribed) {
    for (int round = 0; round < 20; ++round) {
        HeardChanges heard;
        auto const service = "orders-" + std::to_string(round);
        consumer.subscribe(service, heard.listener());
        add("o-1", service);
        EXPECT_TRUE(hears(heard, "added o-1 of [o-1]"));
    }
}

TEST_F(Subscriptions, OfOneListenerAreOne) {
    add("o-1");
    HeardChanges heard;
    consumer.subscribe("orders", heard.listener());
    consumer.subscribe("orders", heard.listener());
    EXPECT_THAT(told(heard), ElementsAre("current o-1 of [o-1]"));
    consumer.unsubscribe("orders", heard.listener());
    EXPECT_TRUE(eventually([&] { return subscribers() == 0; }));
    consumer.subscribe("orders", heard.listener());
    EXPECT_THAT(told(heard), ElementsAre("current o-1 of [o-1]"));
}

TEST_F(Subscriptions, OfALaterListenerBeginForItAlone) {
    add("o-1");
    HeardChanges first;
    HeardChanges second;
    consumer.subscribe("orders", first.listener());
    EXPECT_THAT(told(first), ElementsAre("current o-1 of [o-1]"));
    consumer.subscribe("orders", second.listener());
    EXPECT_THAT(told(second), ElementsAre("current o-1 of [o-1]"));
    remove("o-1");
    EXPECT_TRUE(hears(first, "removed o-1 of []"));
    EXPECT_TRUE(hears(second, "removed o-1 of []"));
    EXPECT_EQ(subscribers(), 1) << "one subscription in Redis serves both";
}

TEST_F(Subscriptions, OfOneListenerAtTwoServicesAreTwo) {
    HeardChanges heard;
    consumer.subscribe("orders", heard.listener());
    consumer.subscribe("carts", heard.listener());
    add("o-1");
    EXPECT_TRUE(hears(heard, "added o-1 of [o-1]"));
    consumer.unsubscribe("orders", heard.listener());
    add("o-2");
    add("c-1", "carts");
    EXPECT_TRUE(hears(heard, "added c-1 of [c-1]"));
    EXPECT_EQ(heard.size(), 2);
    EXPECT_EQ(heard.all()[1].service, "carts");
}

TEST_F(Subscriptions, SanitiseNamesAsRegistrationsDo) {
    HeardChanges heard;
    consumer.subscribe("a b", heard.listener());
    auto const instance = an_instance("a b", "box:80");
    provider.register_instance(instance);
    ASSERT_TRUE(hears(heard, "added box_80 of [box_80]"));
    EXPECT_EQ(heard.all()[0].service, "a-b");
    consumer.unsubscribe("a b", heard.listener());
    EXPECT_TRUE(eventually([&] { return subscribers("a-b") == 0; }));
}

TEST_F(Subscriptions, TakeAServiceNameAsItIs) {
    HeardChanges heard;
    consumer.subscribe("or*[a-z]?", heard.listener());
    add("o-1", "orders");
    add("o-2", "or*[a-z]?");
    EXPECT_TRUE(hears(heard, "added o-2 of [o-2]"));
    EXPECT_EQ(heard.size(), 1);
}

TEST_F(Subscriptions, MatchNamesThatOldPeersSendRaw) {
    store("box_80");
    HeardChanges heard;
    consumer.subscribe("orders", heard.listener());
    publish(message_of(ServiceChangeAction::updated, "another name", "box:80"));
    EXPECT_TRUE(hears(heard, "updated box_80 of [box_80]"));
    EXPECT_EQ(heard.all().back().service, "orders");
}

TEST_F(Subscriptions, AreRefusedWhileNotRunning) {
    RedisServiceConsumer idle{client};
    HeardChanges heard;
    EXPECT_THROW(idle.subscribe("orders", heard.listener()), std::logic_error);
    idle.unsubscribe("orders", heard.listener());
    idle.start();
    idle.subscribe("orders", heard.listener());
    idle.stop();
    EXPECT_THROW(idle.subscribe("orders", heard.listener()), std::logic_error);
    idle.unsubscribe("orders", heard.listener());
}

TEST_F(Subscriptions, EndWithTheConsumer) {
    HeardChanges heard;
    consumer.subscribe("orders", heard.listener());
    consumer.subscribe("carts", heard.listener());
    consumer.stop();
    EXPECT_TRUE(eventually([&] { return subscribers() + subscribers("carts") == 0; }));
    add("o-1");
    consumer.start();
    HeardChanges again;
    consumer.subscribe("orders", again.listener());
    EXPECT_THAT(told(again), ElementsAre("current o-1 of [o-1]"));
    EXPECT_THAT(heard.texts(), IsEmpty()) << "what was stopped does not come back";
}

TEST_F(Subscriptions, ThatAreUnknownEndWithoutAWord) {
    HeardChanges heard;
    HeardChanges other;
    consumer.unsubscribe("orders", heard.listener());
    consumer.subscribe("orders", heard.listener());
    consumer.unsubscribe("orders", other.listener());
    consumer.unsubscribe("carts", heard.listener());
    consumer.unsubscribe("", nullptr);
    add("o-1");
    EXPECT_TRUE(hears(heard, "added o-1 of [o-1]"));
}

TEST_F(Subscriptions, WaitForACallThatRunsWhenTheyEnd) {
    std::atomic<bool> over = false;
    std::promise<void> running;
    HeardChanges heard{[&](HeardChange const&) {
        running.set_value();
        std::this_thread::sleep_for(100ms);
        over = true;
    }};
    consumer.subscribe("orders", heard.listener());
    add("o-1");
    running.get_future().wait();
    std::thread other{[&] {
        consumer.unsubscribe("orders", heard.listener());
        EXPECT_TRUE(over);
    }};
    consumer.unsubscribe("orders", heard.listener());
    EXPECT_TRUE(over);
    other.join();
    add("o-2");
    EXPECT_EQ(heard.size(), 1);
}

TEST_F(Subscriptions, EndInsideTheirCall) {
    add("o-1");
    add("o-2");
    HeardChanges heard{[&](HeardChange const& change) {
        EXPECT_EQ(change.action, ServiceChangeAction::current);
        consumer.unsubscribe("orders", heard.listener());
    }};
    consumer.subscribe("orders", heard.listener());
    EXPECT_TRUE(eventually([&] { return subscribers() == 0; }));
    EXPECT_EQ(heard.size(), 1) << "that call is the last";
}

TEST_F(Subscriptions, MayBeMadeInsideACallOfAnother) {
    HeardChanges inner;
    HeardChanges outer{[&](HeardChange const&) {
        consumer.subscribe("carts", inner.listener());
        consumer.unsubscribe("orders", outer.listener());
    }};
    add("c-1", "carts");
    consumer.subscribe("orders", outer.listener());
    add("o-1");
    EXPECT_TRUE(hears(inner, "current c-1 of [c-1]"));
}

TEST_F(Subscriptions, LeaveAListenerThatDestroysItsConsumer) {
    auto passing = std::make_unique<RedisServiceConsumer>(client);
    passing->start();
    std::atomic<bool> gone = false;
    HeardChanges heard{[&](HeardChange const&) {
        passing.reset();
        gone = true;
    }};
    passing->subscribe("orders", heard.listener());
    add("o-1");
    EXPECT_TRUE(eventually([&] { return gone.load(); }));
    EXPECT_TRUE(eventually([&] { return subscribers() == 0; }));
}

TEST_F(Subscriptions, OfASleeperHoldNobodyUpButListeners) {
    std::promise<void> gate;
    auto const open = gate.get_future().share();
    HeardChanges sleeper{[&](HeardChange const&) { open.wait(); }};
    consumer.subscribe("orders", sleeper.listener());
    add("o-1");
    ASSERT_TRUE(hears(sleeper, "added o-1 of [o-1]"));
    add("o-2");
    EXPECT_EQ(consumer.all_instances("orders").size(), 2);
    HeardChanges other;
    consumer.subscribe("orders", other.listener());
    gate.set_value();
    EXPECT_TRUE(hears(other, "current o-2 of [o-1, o-2]"));
}

TEST_F(Subscriptions, EndOnTheIoThreadWithoutWaitingForACall) {
    std::atomic<bool> ending = false;
    std::atomic<bool> found = false;
    std::unique_ptr<RedisServiceConsumer> reader;
    HeardChanges heard{[&](HeardChange const&) {
        EXPECT_TRUE(eventually([&] { return ending.load(); }));
        found = consumer.all_instances("orders").size() == 1 &&
                reader->all_instances("orders").size() == 1;
    }};
    auto logging = options();
    logging.log = [&](LogLevel, std::string_view text) {
        if (text.find("could not be read") == std::string_view::npos) return;
        ending = true;
        reader->unsubscribe("orders", heard.listener());
    };
    Client own{logging};
    reader = std::make_unique<RedisServiceConsumer>(own);
    reader->start();
    reader->subscribe("orders", heard.listener());
    add("o-1");
    ASSERT_TRUE(hears(heard, "added o-1 of [o-1]"));
    publish("garbage");  // The I/O thread logs it.
    EXPECT_TRUE(eventually([&] { return found.load(); }));
    EXPECT_TRUE(eventually([&] { return subscribers() == 0; }));
    EXPECT_EQ(heard.size(), 1);
}

TEST_F(Subscriptions, ComeAndGoInManyThreads) {
    HeardChanges shared;
    std::atomic<bool> over = false;
    std::thread owner{[&] {
        for (int i = 0; !over; ++i) {
            add("o-" + std::to_string(i % 3));
            remove("o-" + std::to_string((i + 1) % 3));
        }
    }};
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
        threads.emplace_back([&] {
            for (int round = 0; round < 25; ++round) {
                HeardChanges own;
                consumer.subscribe("orders", own.listener());
                consumer.subscribe("orders", shared.listener());
                consumer.unsubscribe("orders", own.listener());
                auto const size = own.size();
                consumer.unsubscribe("orders", shared.listener());
                EXPECT_EQ(own.size(), size) << "nothing comes after the end";
            }
        });
    }
    for (auto& thread : threads) thread.join();
    over = true;
    owner.join();
    EXPECT_TRUE(eventually([&] { return subscribers() == 0; }));
    HeardChanges heard;
    consumer.subscribe("orders", heard.listener());
    add("last");
    EXPECT_TRUE(eventually([&] {
        auto const all = heard.all();
        return !all.empty() && all.back().instance && all.back().instance->instance_id == "last";
    }));
}

TEST_F(Subscriptions, WorkThroughTheNamingService) {
    RedisNamingService naming{client};
    HeardChanges heard;
    EXPECT_THROW(naming.subscribe("orders", heard.listener()), std::logic_error);
    naming.start();
    NamingService& any = naming;
    any.subscribe("orders", heard.listener());
    naming.register_instance(an_instance("orders", "o-1"));
    EXPECT_TRUE(hears(heard, "added o-1 of [o-1]"));
    any.unsubscribe("orders", heard.listener());
    EXPECT_TRUE(eventually([&] { return subscribers() == 0; }));
}

TEST_F(Subscriptions, TellWhatExpired) {
    HeardChanges heard;
    ServiceConsumerConfig config;
    config.heartbeat_timeout = 1s;
    RedisServiceConsumer quick{client, config};
    quick.start();
    redis().must({"SET", std::string{prefix} + ":rollcall:epoch", "an epoch"});
    store("o-1");
    quick.subscribe("orders", heard.listener());
    EXPECT_TRUE(hears(heard, "current o-1 of [o-1]"));
    EXPECT_TRUE(hears(heard, "removed o-1 of []")) << "nobody sweeps, so no message comes";
    EXPECT_EQ(heard.all().back().instance->host, "10.0.0.5");
}

}  // namespace
}  // namespace rollcall::streaming::test
