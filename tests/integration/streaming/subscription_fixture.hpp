#pragma once

#include <algorithm>
#include <gmock/gmock.h>
#include <string>
#include <string_view>
#include <vector>

#include "integration/streaming/fixture.hpp"
#include "support/heard_changes.hpp"

namespace rollcall::streaming::test {

using rollcall::test::HeardChange;
using rollcall::test::HeardChanges;

inline bool heard_so_far(HeardChanges const& heard, std::string const& text) {
    auto const texts = heard.texts();
    return std::ranges::find(texts, text) != texts.end();
}

/// Whether this is told soon.
inline bool hears(HeardChanges const& heard, std::string const& text,
                  std::chrono::milliseconds limit = 5s) {
    bool const told = eventually([&] { return heard_so_far(heard, text); }, limit);
    EXPECT_TRUE(told) << text << "; told was " << testing::PrintToString(heard.texts());
    return told;
}

/// A message as a peer sends it.
inline std::string message_of(ServiceChangeAction action, std::string const& service,
                              std::string const& id, bool described = true) {
    ServiceChangeEvent event;
    event.action = action;
    event.service_name = service;
    event.instance_id = id;
    if (described) event.instance = an_instance(service, id);
    return to_message(event);
}

class SubscriptionTest : public StreamingTest {
protected:
    void SetUp() override {
        StreamingTest::SetUp();
        consumer.start();
        provider.start();
    }

    using StreamingTest::store;
    void store(std::string const& id, long long age = 0) {
        store("orders", id, age, {"host", "10.0.0.5", "port", "8080"});
    }
    void add(std::string const& id, std::string const& service = "orders") {
        provider.register_instance(an_instance(service, id));
    }
    void remove(std::string const& id, std::string const& service = "orders") {
        provider.deregister_instance(an_instance(service, id));
    }
    void publish(std::string const& message, std::string const& service = "orders") {
        redis().must({"PUBLISH", channel_of(service), message});
    }
    /// All that was told before this call and what became of earlier messages.
    std::vector<std::string> told(HeardChanges& heard, std::string const& service = "orders") {
        auto const id = "mark-" + std::to_string(++marks_);
        publish(message_of(ServiceChangeAction::removed, service, id), service);
        auto const is_mark = [&](HeardChange const& change) {
            return change.instance && change.instance->instance_id == id;
        };
        std::vector<HeardChange> changes;
        bool const marked = eventually([&] {
            for (auto& change : heard.take()) changes.push_back(std::move(change));
            return !changes.empty() && is_mark(changes.back());
        });
        EXPECT_TRUE(marked);
        std::vector<std::string> texts;
        for (auto const& change : changes) {
            if (!is_mark(change)) texts.push_back(change.text());
        }
        return texts;
    }
    long long subscribers(std::string const& service = "orders") {
        return redis().must({"PUBSUB", "NUMSUB", channel_of(service)}).elements.at(1).integer;
    }

    RedisServiceProvider provider{client};
    RedisServiceConsumer consumer{client};

private:
    int marks_ = 0;
};

}  // namespace rollcall::streaming::test
