// The numbered vectors of what listeners are told, from tests/data/streaming/subscriptions.json.
#include <boost/json/serialize.hpp>
#include <boost/json/value_to.hpp>
#include <optional>

#include "integration/streaming/subscription_fixture.hpp"

namespace rollcall::streaming::test {
namespace {

namespace json = boost::json;

std::string text(json::object const& step, std::string_view name) {
    return std::string{step.at(name).as_string()};
}

/// What was told, as far as `expected` names it.
json::object as_named(HeardChange const& change, json::object const& expected) {
    json::object result{{"action", value(change.action)}, {"id", nullptr}};
    result["all"] = json::value_from(change.all);
    if (!change.instance) return result;
    auto const& instance = *change.instance;
    result["id"] = instance.instance_id;
    if (expected.contains("host")) result["host"] = instance.host;
    if (expected.contains("port")) result["port"] = instance.port;
    if (expected.contains("enabled")) result["enabled"] = instance.enabled;
    if (expected.contains("metadata")) {
        json::object metadata;
        for (auto const& [key, label] : instance.metadata) metadata[key] = label;
        result["metadata"] = std::move(metadata);
    }
    return result;
}

class SubscriptionVectors : public SubscriptionTest,
                            public testing::WithParamInterface<json::object> {
protected:
    static constexpr std::string_view mark = "mark";

    void run(json::object const& step, int number) {
        SCOPED_TRACE(json::serialize(step));
        auto const what = text(step, "do");
        if (what == "store") {
            std::vector<std::string> fields;
            for (auto const& [name, field] : step.at("fields").as_object()) {
                fields.emplace_back(name);
                fields.emplace_back(field.as_string());
            }
            store("s", text(step, "id"), 10'000 - 1'000 * number, fields);
        } else if (what == "redis") {
            redis().must(json::value_to<std::vector<std::string>>(step.at("command")));
        } else if (what == "publish") {
            publish(text(step, "message"), "s");
        } else {
            ASSERT_EQ(what, "subscribe");
            consumer.subscribe("s", heard_.listener());
        }
        if (auto const* calls = step.if_contains("calls")) check(calls->as_array());
    }

private:
    /// What comes before a call that was caused later.
    std::vector<HeardChange> told() {
        publish(message_of(ServiceChangeAction::removed, "s", std::string{mark}), "s");
        std::vector<HeardChange> changes;
        bool const marked = eventually([&] {
            for (auto& change : heard_.take()) changes.push_back(std::move(change));
            return !changes.empty() && changes.back().instance &&
                   changes.back().instance->instance_id == mark;
        });
        EXPECT_TRUE(marked);
        if (marked) changes.pop_back();
        return changes;
    }

    void check(json::array const& expected) {
        json::array actual;
        std::size_t at = 0;
        for (auto const& change : told()) {
            auto const named = at < expected.size() ? expected[at].as_object() : json::object{};
            actual.emplace_back(as_named(change, named));
            ++at;
        }
        EXPECT_EQ(actual, expected);
    }

    HeardChanges heard_;
};

TEST_P(SubscriptionVectors, Hold) {
    auto const& vector = GetParam();
    SCOPED_TRACE(text(vector, "title"));
    int number = 0;
    for (auto const& step : vector.at("steps").as_array()) run(step.as_object(), ++number);
}

INSTANTIATE_TEST_SUITE_P(Subscriptions, SubscriptionVectors,
                         testing::ValuesIn(cases("subscriptions")),
                         [](auto const& of) { return test_name(of.param); });

}  // namespace
}  // namespace rollcall::streaming::test
