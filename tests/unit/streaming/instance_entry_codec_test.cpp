#include "rollcall/streaming/instance_entry_codec.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <chrono>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "unit/streaming/vectors.hpp"

#include "rollcall/streaming/registry_keys.hpp"

namespace rollcall::streaming {
namespace {

using test::rows;
using test::text;
using Field = InstanceEntryCodec::Field;
using SystemTime = std::chrono::system_clock::time_point;

/// The fields of a Hash as a reply holds them: views into texts that live elsewhere.
class Hash {
public:
    explicit Hash(Metadata fields) : texts_(std::move(fields)) {
        for (auto const& [name, value] : texts_) fields_.emplace_back(name, value);
    }
    Hash(Hash const&) = delete;
    Hash& operator=(Hash const&) = delete;

    std::optional<StoredInstance> parse() const {
        return InstanceEntryCodec::parse_instance("s", "i", fields_);
    }

private:
    Metadata texts_;
    std::vector<Field> fields_;
};

std::optional<SystemTime> time_in(boost::json::object const& row, std::string_view name) {
    auto const* const value = row.if_contains(name);
    if (!value) return std::nullopt;
    return SystemTime{std::chrono::milliseconds{value->as_int64()}};
}

StoredInstance expected_instance(boost::json::object const& row) {
    StoredInstance expected{test::instance(row), {}};
    expected.instance.service_name = "s";
    expected.instance.instance_id = "i";
    expected.state.registered_at = time_in(row, "registered_at");
    expected.state.last_heartbeat_at = time_in(row, "last_heartbeat_at");
    return expected;
}

TEST(ParseInstance, FollowsEveryVector) {
    for (auto const& value : rows("parse", "cases")) {
        auto const& row = value.as_object();
        TRACE_ROW(row);
        auto const parsed = Hash{test::metadata(row.at("fields"))}.parse();
        ASSERT_EQ(parsed.has_value(), row.at("instance").is_object());
        if (!parsed) continue;
        auto const expected = expected_instance(row.at("instance").as_object());
        EXPECT_EQ(parsed->instance, expected.instance);
        EXPECT_EQ(parsed->state.registered_at, expected.state.registered_at);
        EXPECT_EQ(parsed->state.last_heartbeat_at, expected.state.last_heartbeat_at);
        EXPECT_EQ(parsed->state.lease_until, std::nullopt);
        EXPECT_FALSE(parsed->state.suspect);
    }
}

TEST(ParseInstance, ReplacesIllFormedUtf8) {
    auto const parsed = Hash{{{"host", "h\xff"}, {"port", "1"}, {"metadata_\xfe", "\xc3"}}}.parse();
    ASSERT_TRUE(parsed);
    EXPECT_EQ(parsed->instance.host, "h\uFFFD");
    EXPECT_EQ(parsed->instance.metadata, (Metadata{{"\uFFFD", "\uFFFD"}}));
}

TEST(ParseInstance, KeepsTimesWithinTheClocksRange) {
    auto const parsed = Hash{{{"host", "h"},
                              {"port", "1"},
                              {"registrationTime", "9223372036854775807"},
                              {"lastHeartbeatTime", "-9223372036854775808"}}}
                            .parse();
    ASSERT_TRUE(parsed);
    EXPECT_EQ(parsed->state.registered_at, SystemTime::max());
    EXPECT_EQ(parsed->state.last_heartbeat_at, SystemTime::min());
}

TEST(BuildInstanceData, WritesEveryVector) {
    for (auto const& value : rows("documents", "cases")) {
        auto const& row = value.as_object();
        TRACE_ROW(row);
        auto const instance = test::instance(row.at("instance").as_object());
        EXPECT_EQ(InstanceEntryCodec::build_instance_data(instance), text(row, "document"));
    }
}

TEST(BuildInstanceData, HasNoTimes) {
    auto const document =
        boost::json::parse(InstanceEntryCodec::build_instance_data(ServiceInstance{}));
    std::vector<std::string> names;
    for (auto const& [name, value] : document.as_object()) names.emplace_back(name);
    EXPECT_THAT(names,
                ::testing::UnorderedElementsAre("host", "port", "protocol", "enabled", "healthy",
                                                "weight", "ephemeral", "metadata"));
}

TEST(BuildInstanceData, Defect12_AMissingHostIsWrittenAsNullToRemoveTheField) {
    auto const document =
        boost::json::parse(InstanceEntryCodec::build_instance_data(ServiceInstance{}));
    EXPECT_TRUE(document.at("host").is_null());
}

TEST(BuildInstanceData, Defect13_EphemeralIsNeverNull) {
    for (bool const ephemeral : {true, false}) {
        ServiceInstance instance;
        instance.ephemeral = ephemeral;
        auto const document = boost::json::parse(InstanceEntryCodec::build_instance_data(instance));
        EXPECT_EQ(document.at("ephemeral"), ephemeral);
    }
}

TEST(BuildInstanceData, Defect10_AbsentMetadataIsAnEmptyObject) {
    auto const document =
        boost::json::parse(InstanceEntryCodec::build_instance_data(ServiceInstance{}));
    EXPECT_EQ(document.at("metadata"), boost::json::object{});
    EXPECT_EQ(InstanceEntryCodec::metadata_json({}), "{}");
}

TEST(BuildInstanceData, Defect67_EachRegistrationBringsItsOwnRegistrationTime) {
    // The script adds the time of the call: the document never carries an earlier one over.
    auto const document = InstanceEntryCodec::build_instance_data(ServiceInstance{});
    EXPECT_EQ(document.find("registrationTime"), std::string::npos);
}

TEST(MetadataJson, WritesEveryVector) {
    for (auto const& value : rows("documents", "metadata")) {
        auto const& row = value.as_object();
        TRACE_ROW(row);
        EXPECT_EQ(InstanceEntryCodec::metadata_json(test::metadata(row.at("metadata"))),
                  text(row, "json"));
    }
}

TEST(MetadataJson, IsReadBackAsItWas) {
    Metadata const metadata{{"", "empty key"},
                            {"a", ""},
                            {"controls", std::string{"\0\x01\n\x7f", 4}},
                            {"quotes", "\"\\/"},
                            {"é中😀", "é中😀"}};
    auto const json = InstanceEntryCodec::metadata_json(metadata);
    auto const parsed = Hash{{{"host", "h"}, {"port", "1"}, {"metadata", json}}}.parse();
    ASSERT_TRUE(parsed);
    EXPECT_EQ(parsed->instance.metadata, metadata);
}

}  // namespace
}  // namespace rollcall::streaming
