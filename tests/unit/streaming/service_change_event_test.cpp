#include "rollcall/streaming/service_change_event.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <chrono>
#include <gtest/gtest.h>
#include <string>

#include "streaming/event_text.hpp"
#include "unit/streaming/vectors.hpp"

#include "rollcall/streaming/instance_entry_codec.hpp"

namespace rollcall::streaming {
namespace {

using test::rows;
using test::text;

ServiceChangeEvent event_in(boost::json::object const& row) {
    ServiceChangeEvent event;
    event.action = service_change_action(text(row, "action")).value();
    event.service_name = text(row, "service");
    event.instance_id = text(row, "instance_id");
    event.timestamp = std::chrono::milliseconds{row.at("timestamp").as_int64()};
    if (auto const* const instance = row.at("instance").if_object()) {
        event.instance = test::instance(*instance);
    }
    return event;
}

TEST(ServiceChangeEvent, IsWrittenByteForByte) {
    for (auto const& value : rows("events", "cases")) {
        auto const& row = value.as_object();
        TRACE_ROW(row);
        EXPECT_EQ(to_message(event_in(row)), text(row, "message"));
    }
}

TEST(ServiceChangeEvent, IsTheSameWhenAScriptComposesIt) {
    for (auto const& value : rows("events", "cases")) {
        auto const& row = value.as_object();
        TRACE_ROW(row);
        auto const event = event_in(row);
        auto const tail = event_tail(event.service_name, event.instance_id,
                                     event.instance ? &*event.instance : nullptr);
        EXPECT_EQ(std::string{event_head} + std::string{wire_name(event.action)} + tail +
                      std::to_string(event.timestamp.count()) + std::string{event_end},
                  text(row, "message"));
    }
}

TEST(ServiceChangeEvent, IsReadBack) {
    for (auto const& value : rows("events", "cases")) {
        auto const& row = value.as_object();
        TRACE_ROW(row);
        auto const read = parse_message(text(row, "message"));
        ASSERT_TRUE(read);
        EXPECT_EQ(to_message(*read), text(row, "message"));
    }
}

TEST(ServiceChangeEvent, IsReadAsPeersMayWriteIt) {
    for (auto const& value : rows("events", "readable")) {
        auto const& row = value.as_object();
        TRACE_ROW(row);
        auto const read = parse_message(text(row, "message"));
        ASSERT_TRUE(read);
        EXPECT_EQ(rollcall::streaming::value(read->action), text(row, "action"));
        EXPECT_EQ(read->instance_id, text(row, "instance_id"));
        EXPECT_EQ(read->timestamp.count(), row.at("timestamp").as_int64());
        auto const* const expected = row.at("instance").if_object();
        ASSERT_EQ(read->instance.has_value(), expected != nullptr);
        if (!expected) continue;
        EXPECT_EQ(read->instance->host, text(*expected, "host"));
        EXPECT_EQ(read->instance->port, expected->at("port").as_int64());
        EXPECT_EQ(read->instance->weight, expected->at("weight").as_int64());
        EXPECT_EQ(read->instance->enabled, expected->at("enabled").as_bool());
        EXPECT_EQ(read->instance->metadata, test::metadata(expected->at("metadata").as_object()));
    }
}

TEST(ServiceChangeEvent, IsNotReadFromAnythingElse) {
    for (auto const& value : rows("events", "unreadable")) {
        EXPECT_FALSE(parse_message(value.as_string())) << value;
    }
    EXPECT_FALSE(parse_message(std::string(max_message_size + 1, ' ')));
    EXPECT_FALSE(parse_message(std::string(100'000, '[')));
}

TEST(ServiceChangeEvent, ReplacesIllFormedUtf8) {
    ServiceChangeEvent event;
    event.service_name = "s\xff";
    event.instance.emplace();
    event.instance->metadata = {{"k", "\xf0\x9f"}};
    auto const message = to_message(event);
    EXPECT_NE(message.find("\"serviceName\":\"s\uFFFD\""), std::string::npos) << message;
    EXPECT_NE(message.find("\"k\":\"\uFFFD\""), std::string::npos) << message;
}

TEST(ServiceChangeEvent, HasEveryClassName) {
    ServiceChangeEvent event;
    event.instance.emplace();
    event.instance->metadata = {{"@class", "evil"}};
    auto const message = boost::json::parse(to_message(event));
    EXPECT_EQ(message.at("@class"),
              "io.github.cuihairu.redis.streaming.registry.event.ServiceChangeEvent");
    EXPECT_EQ(message.at("instance").at("@class"),
              "io.github.cuihairu.redis.streaming.registry.event.ServiceChangeEvent"
              "$InstanceSnapshot");
    EXPECT_EQ(message.at("instance").at("metadata").at("@class"), "java.util.HashMap");
}

TEST(ServiceChangeEvent, Defect7_BothLevelsCarryTheStoredNames) {
    ServiceInstance raw;
    raw.service_name = "a b";
    raw.instance_id = "box:80";
    raw.host = "h";
    auto const stored = InstanceEntryCodec::validated(raw);
    auto const message =
        boost::json::parse(to_message({ServiceChangeAction::removed, stored.service_name,
                                       stored.instance_id, std::chrono::milliseconds{1}, raw}));
    EXPECT_EQ(message.at("instanceId"), "box_80");
    EXPECT_EQ(message.at("serviceName"), "a-b");
    EXPECT_EQ(message.at("instance").at("instanceId"), "box_80");
    EXPECT_EQ(message.at("instance").at("serviceName"), "a-b");
}

TEST(ServiceChangeAction, HasTheDesignsNames) {
    using enum ServiceChangeAction;
    for (auto const action : {added, removed, updated, current, health_recovery, health_failure}) {
        EXPECT_EQ(service_change_action(value(action)), action);
        EXPECT_EQ(service_change_action(wire_name(action)), action);
    }
    EXPECT_EQ(value(health_recovery), "health_recovery");
    EXPECT_EQ(wire_name(health_recovery), "HEALTH_RECOVERY");
    EXPECT_EQ(service_change_action("gone"), std::nullopt);
    EXPECT_EQ(service_change_action(""), std::nullopt);
}

}  // namespace
}  // namespace rollcall::streaming
