#include "streaming/change_teller.hpp"

#include <future>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdexcept>
#include <utility>

#include "registry/live/snapshot_cell.hpp"
#include "registry/live/table_draft.hpp"
#include "support/heard_changes.hpp"
#include "support/log_book.hpp"

namespace rollcall::streaming {
namespace {

using namespace std::chrono_literals;
using rollcall::test::HeardChange;
using rollcall::test::HeardChanges;
using rollcall::test::LogBook;
using testing::ElementsAre;
using testing::IsEmpty;
using enum ServiceChangeAction;

ServiceInstance instance(std::string id, std::string host = "h") {
    ServiceInstance result;
    result.service_name = "orders";
    result.instance_id = std::move(id);
    result.host = std::move(host);
    result.port = 80;
    return result;
}

ServiceInstance unhealthy(std::string id) {
    auto result = instance(std::move(id));
    result.healthy = false;
    return result;
}

/// What is stored, and how a feed changes it.
class Stored {
public:
    Snapshot now() const { return cell_.snapshot(); }

    FeedChange put(ServiceInstance const& given, int seconds_ago = 0) {
        FeedChange change;
        auto const* const before = table_->find(given.instance_id);
        change.kind = before ? ChangeKind::updated : ChangeKind::added;
        change.id = given.instance_id;
        change.instance = std::make_shared<ServiceInstance const>(given);
        if (before) change.previous = before->instance;
        InstanceState state;
        state.last_heartbeat_at =
            std::chrono::system_clock::time_point{1'000'000s - std::chrono::seconds{seconds_ago}};
        live::TableDraft draft{*table_};
        draft.put(live::make_record(change.instance, std::make_shared<live::Vitals>(state)));
        publish(std::move(draft).finish());
        return change;
    }

    FeedChange remove(std::string const& id) {
        FeedChange change;
        change.kind = ChangeKind::removed;
        change.reason = RemovalReason::expired;
        change.id = id;
        change.instance = table_->find(id)->instance;
        publish(table_->erase(id));
        return change;
    }

    FeedChange suspect(std::string const& id) const {
        FeedChange change;
        change.kind = ChangeKind::suspect;
        change.id = id;
        change.instance = table_->find(id)->instance;
        return change;
    }

private:
    void publish(live::InstanceTablePtr table) {
        table_ = std::move(table);
        cell_.publish(table_);
    }

    live::InstanceTablePtr table_ = live::InstanceTable::empty_table();
    live::SnapshotCell cell_{"orders"};
};

live::HeardMessage message(ServiceChangeAction action, std::string id,
                           std::optional<ServiceInstance> described = {}) {
    ServiceChangeEvent event;
    event.action = action;
    event.instance_id = id;
    event.instance = std::move(described);
    return {std::move(id), std::make_shared<ServiceChangeEvent const>(std::move(event))};
}

class ChangeTellers : public testing::Test {
protected:
    ~ChangeTellers() override { teller->stop(); }

    std::shared_ptr<ChangeTeller> tell(HeardChanges const& whom) {
        return std::make_shared<ChangeTeller>("orders", whom.listener(), log(), thread);
    }
    Log log() { return Log{book.callback()}; }

    void settle(std::vector<live::HeardMessage> const& messages,
                std::vector<FeedChange> const& changes) {
        teller->settle(messages, changes, stored.now());
    }
    /// All that was posted has been told.
    void finish() {
        for (int turn = 0; turn < 64; ++turn) {
            std::promise<void> done;
            thread->post([&] { done.set_value(); });
            done.get_future().wait();
        }
    }
    std::vector<std::string> told() {
        finish();
        return heard.texts();
    }

    LogBook book;
    std::shared_ptr<redis::CallbackThread> const thread =
        std::make_shared<redis::CallbackThread>(log());
    HeardChanges heard;
    Stored stored;
    std::shared_ptr<ChangeTeller> teller = tell(heard);
};

TEST_F(ChangeTellers, BeginWithTheHealthyByHeartbeatThenId) {
    stored.put(instance("a"), 1);
    stored.put(instance("c"), 2);
    stored.put(instance("b"), 2);
    stored.put(unhealthy("d"), 3);
    teller->begin(stored.now());
    EXPECT_THAT(told(), ElementsAre("current b of [a, b, c]", "current c of [a, b, c]",
                                    "current a of [a, b, c]"));
}

TEST_F(ChangeTellers, SayNothingOfNobody) {
    stored.put(unhealthy("a"));
    teller->begin(stored.now());
    EXPECT_THAT(told(), IsEmpty());
}

TEST_F(ChangeTellers, TellAMessageWithWhatItCausedOnce) {
    teller->begin(stored.now());
    auto const a = stored.put(instance("a"));
    settle({message(added, "a", instance("a", "said"))}, {a});
    auto const changed = stored.put(unhealthy("a"));
    settle({message(updated, "a")}, {changed});
    auto const left = stored.remove("a");
    settle({message(removed, "a", instance("a", "said"))}, {left});
    EXPECT_THAT(told(), ElementsAre("added a of [a]", "updated a of []", "removed a of []"));
    EXPECT_EQ(heard.all()[0].instance->host, "h") << "what is stored, not what was said";
    EXPECT_FALSE(heard.all()[1].instance->healthy);
    EXPECT_EQ(heard.all()[2].instance->host, "said");
}

TEST_F(ChangeTellers, TellMessagesThatChangeNothing) {
    stored.put(instance("a"));
    teller->begin(stored.now());
    settle({message(added, "a"), message(updated, "a")}, {});
    EXPECT_THAT(told(), ElementsAre("current a of [a]", "added a of [a]", "updated a of [a]"));
}

TEST_F(ChangeTellers, TellChangesWithoutAMessage) {
    teller->begin(stored.now());
    settle({}, {stored.put(instance("a")), stored.put(instance("b"))});
    settle({}, {stored.put(instance("a", "other")), stored.remove("b")});
    EXPECT_THAT(told(), ElementsAre("added a of [a, b]", "added b of [a, b]", "updated a of [a]",
                                    "removed b of [a]"));
    EXPECT_EQ(heard.all()[2].instance->host, "other");
    EXPECT_EQ(heard.all()[3].instance->host, "h");
}

TEST_F(ChangeTellers, TellAllInOneOrder) {
    stored.put(instance("a"));
    teller->begin(stored.now());
    auto const unheard = stored.put(instance("z"));
    auto const b = stored.put(instance("b"));
    settle({message(updated, "a"), message(added, "b")}, {unheard, b});
    EXPECT_THAT(told(), ElementsAre("current a of [a]", "updated a of [a, b, z]",
                                    "added b of [a, b, z]", "added z of [a, b, z]"));
}

TEST_F(ChangeTellers, DoNotTellARemovalOfWhatIsThere) {
    stored.put(instance("a"));
    teller->begin(stored.now());
    settle({message(removed, "a", instance("a"))}, {});
    settle({message(removed, "a"), message(added, "a")}, {stored.put(instance("a", "again"))});
    EXPECT_THAT(told(), ElementsAre("current a of [a]", "added a of [a]"));
}

TEST_F(ChangeTellers, DoNotTellSuspicionNorItsEnd) {
    stored.put(instance("a"));
    teller->begin(stored.now());
    settle({}, {stored.suspect("a")});
    settle({message(removed, "a")}, {stored.suspect("a")});
    settle({}, {stored.put(instance("a"))});
    settle({}, {stored.remove("a")});
    EXPECT_THAT(told(), ElementsAre("current a of [a]", "removed a of []"));
}

TEST_F(ChangeTellers, TellRemovalsOfTheUnknownAsTheyAreDescribed) {
    teller->begin(stored.now());
    settle({message(removed, "x", instance("x")), message(removed, "y"),
            message(removed, "z", instance("z", ""))},
           {});
    EXPECT_THAT(told(), ElementsAre("removed x of []", "removed null of []", "removed null of []"));
}

TEST_F(ChangeTellers, FallBackToTheDescriptionOfWhatIsNotStored) {
    teller->begin(stored.now());
    settle({message(added, "x", instance("x")), message(added, "y"),
            message(updated, "z", instance("z", ""))},
           {});
    EXPECT_THAT(told(), ElementsAre("added x of []"));
}

TEST_F(ChangeTellers, TellWhatCameAndWentBetweenTwoReads) {
    stored.put(instance("a"));
    teller->begin(stored.now());
    auto const left = stored.remove("a");
    settle({message(updated, "a"), message(removed, "a"), message(added, "b", instance("b")),
            message(removed, "b", instance("b"))},
           {left});
    EXPECT_THAT(told(), ElementsAre("current a of [a]", "updated a of []", "removed a of []",
                                    "added b of []", "removed b of []"));
}

TEST_F(ChangeTellers, Defect64_WhatIsThrownEndsNothing) {
    HeardChanges bad{[](HeardChange const& change) {
        if (change.action == current) throw std::runtime_error{"a bad listener"};
        throw 7;
    }};
    auto const telling = tell(bad);
    stored.put(instance("a"));
    stored.put(instance("b"));
    telling->begin(stored.now());
    std::vector<FeedChange> const more{stored.put(instance("c"))};
    telling->settle({}, more, stored.now());
    finish();
    EXPECT_THAT(bad.texts(),
                ElementsAre("current a of [a, b]", "current b of [a, b]", "added c of [a, b, c]"));
    EXPECT_TRUE(book.has("a listener of orders threw: a bad listener"));
    telling->stop();
}

TEST_F(ChangeTellers, EndInsideACallWithThatCall) {
    std::shared_ptr<ChangeTeller> telling;
    HeardChanges once{[&](HeardChange const&) { telling->stop(); }};
    telling = tell(once);
    stored.put(instance("a"));
    stored.put(instance("b"));
    telling->begin(stored.now());
    finish();
    EXPECT_THAT(once.texts(), ElementsAre("current a of [a, b]"));
}

TEST_F(ChangeTellers, EndSoonWithoutWaitingForACall) {
    std::promise<void> gate;
    std::promise<void> entered;
    HeardChanges slow{[&, open = gate.get_future().share()](HeardChange const&) {
        entered.set_value();
        open.wait();
    }};
    auto const telling = tell(slow);
    stored.put(instance("a"));
    stored.put(instance("b"));
    telling->begin(stored.now());
    entered.get_future().wait();
    telling->stop_soon();
    EXPECT_TRUE(telling->stopped());
    gate.set_value();
    finish();
    EXPECT_THAT(slow.texts(), ElementsAre("current a of [a, b]"));
}

TEST_F(ChangeTellers, LetGoOfTheListenerWhenTheyStop) {
    auto passing = std::make_optional<HeardChanges>();
    std::weak_ptr<ServiceChangeListener> const listener = passing->listener();
    auto const telling = tell(*passing);
    telling->begin(stored.now());
    passing.reset();
    EXPECT_FALSE(listener.expired());
    telling->stop();
    EXPECT_TRUE(listener.expired());
}

/// Keeps the callback thread busy until it ends.
class Hold {
public:
    explicit Hold(redis::CallbackThread& thread) {
        std::promise<void> entered;
        thread.post([&, gate = gate_.get_future().share()] {
            entered.set_value();
            gate.wait();
        });
        entered.get_future().wait();
    }
    ~Hold() { gate_.set_value(); }
    Hold(Hold const&) = delete;
    Hold& operator=(Hold const&) = delete;

private:
    std::promise<void> gate_;
};

constexpr int too_many = 10'001;

TEST_F(ChangeTellers, TellWhoFellBehindWhoLeftAndWhoIsThere) {
    stored.put(instance("a"));
    stored.put(instance("b"));
    stored.put(instance("c"));
    teller->begin(stored.now());
    EXPECT_EQ(told().size(), 3);
    {
        Hold const hold{*thread};
        settle({}, {stored.remove("a")});
        for (int i = 0; i < too_many; ++i) settle({message(updated, "b")}, {});
        settle({}, {stored.put(unhealthy("c")), stored.put(instance("d"))});
    }
    EXPECT_THAT(told(), ElementsAre("current a of [a, b, c]", "current b of [a, b, c]",
                                    "current c of [a, b, c]", "removed a of [b, d]",
                                    "current b of [b, d]", "current d of [b, d]"));
    settle({}, {stored.remove("d")});
    EXPECT_EQ(told().back(), "removed d of [b]") << "goes on as before";
}

TEST_F(ChangeTellers, DoNotForgetWhoLeftWithinWhatWasTold) {
    stored.put(instance("a"));
    std::promise<void> gate;
    auto const open = gate.get_future().share();
    std::promise<void> entered;
    HeardChanges slow{[&](HeardChange const& change) {
        if (change.text() != "added b of [b]") return;
        entered.set_value();
        open.wait();
    }};
    auto const telling = tell(slow);
    telling->begin(stored.now());
    // Read together: the first is told with a snapshot that shows the second, too.
    std::vector<FeedChange> const together{stored.put(instance("b")), stored.remove("a")};
    telling->settle({}, together, stored.now());
    entered.get_future().wait();
    std::vector<live::HeardMessage> const again{message(updated, "b")};
    for (int i = 0; i < too_many; ++i) telling->settle(again, {}, stored.now());
    gate.set_value();
    finish();
    EXPECT_THAT(slow.texts(), ElementsAre("current a of [a]", "added b of [b]", "removed a of [b]",
                                          "current b of [b]"));
    telling->stop();
}

TEST(InstanceLists, ShowTheHealthyOfWhatTestsGive) {
    InstanceList const list{{instance("b"), unhealthy("c"), instance("a")}};
    EXPECT_EQ(list.size(), 2);
    EXPECT_FALSE(list.empty());
    EXPECT_EQ(list.begin()->instance_id, "a");
    ASSERT_NE(list.find("b"), nullptr);
    EXPECT_EQ(list.find("b")->host, "h");
    EXPECT_EQ(list.find("c"), nullptr);
    EXPECT_EQ(list.find("d"), nullptr);
    std::vector<ServiceInstance> const copied{list.begin(), list.end()};
    EXPECT_THAT(copied, ElementsAre(instance("a"), instance("b")));
    EXPECT_TRUE(InstanceList{}.empty());
    EXPECT_TRUE(InstanceList{std::vector<ServiceInstance>{}}.empty());
}

TEST(ServiceChangeListeners, AreMadeOfCalls) {
    EXPECT_THROW(make_service_change_listener({}), std::invalid_argument);
    HeardChanges heard;
    auto const one = instance("a");
    heard.listener()->on_service_change("orders", added, &one, InstanceList{{one}});
    EXPECT_THAT(heard.texts(), ElementsAre("added a of [a]"));
}

TEST(ServiceChangeListeners, AreMadeForSomeActions) {
    std::vector<ServiceChangeAction> told;
    auto const call = [&](auto, ServiceChangeAction action, auto const*, auto const&) {
        told.push_back(action);
    };
    EXPECT_THROW(make_service_change_listener(call, {}), std::invalid_argument);
    EXPECT_THROW(make_service_change_listener({}, {added}), std::invalid_argument);
    auto const listener = make_service_change_listener(call, {added, removed});
    for (auto const action : {current, added, updated, removed}) {
        listener->on_service_change("orders", action, nullptr, {});
    }
    EXPECT_THAT(told, ElementsAre(added, removed));
}

}  // namespace
}  // namespace rollcall::streaming
