#include "cli/print/json_output.hpp"

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <gtest/gtest.h>

namespace rollcall::cli {
namespace {

using namespace std::chrono_literals;
namespace json = boost::json;

Found example() {
    Found found;
    found.instance.service_name = "web";
    found.instance.instance_id = "a";
    found.instance.host = "10.0.0.5";
    found.instance.port = 8080;
    found.instance.weight = 3;
    found.instance.metadata = {{"zone", "b"}};
    found.lease = 84'123ms;
    found.state.registered_at = std::chrono::system_clock::time_point{1'764'473'280'123ms};
    return found;
}

TEST(InstancesJson, HasTheDocumentedShape) {
    std::vector<Found> const found{example()};
    EXPECT_EQ(to_document(instances_json(found)),
              R"([{"service":"web","id":"a","scheme":"http","host":"10.0.0.5","port":8080,)"
              R"("weight":3,"ephemeral":true,"enabled":true,"healthy":true,)"
              R"("metadata":{"zone":"b"},"lease_ms":84123,)"
              R"("registered_at":"2025-11-30T03:28:00.123Z"}])"
              "\n");
}

TEST(InstancesJson, UsesNullForWhatIsNotKnown) {
    auto found = example();
    found.lease.reset();
    found.state.registered_at.reset();
    auto const value = instances_json(std::vector{found});
    EXPECT_TRUE(value.at(0).at("lease_ms").is_null());
    EXPECT_TRUE(value.at(0).at("registered_at").is_null());
}

TEST(InstancesJson, OfNothingIsAnEmptyArray) { EXPECT_EQ(to_document(instances_json({})), "[]\n"); }

TEST(JsonDocument, KeepsForeignTextExactlyAndSafely) {
    std::string const text = "\x1b[2J\n\t\x7f\xC2\x9B\xE2\x80\xAE 日本語 😀 \"\\ \xF3\xA0\x81\x81";
    auto const document = to_document(json::object{{"t", json_text(text)}});
    EXPECT_EQ(json::parse(document).at("t").as_string(), text);
    EXPECT_EQ(document.find_first_of("\x1b\x7f\t"), std::string::npos);
    EXPECT_EQ(document.find("\xC2\x9B"), std::string::npos);
    EXPECT_EQ(document.find("\xE2\x80\xAE"), std::string::npos);
    EXPECT_EQ(document.find('\n'), document.size() - 1);
    EXPECT_NE(document.find("日本語 😀"), std::string::npos);
}

TEST(JsonDocument, IsUtf8WhateverTheDataIs) {
    auto found = example();
    found.instance.metadata = {{"k\xFF", "v\xFF\xFE"}};
    auto const document = to_document(instances_json(std::vector{found}));
    auto const value = json::parse(document);
    EXPECT_EQ(value.at(0).at("metadata").at("k\xEF\xBF\xBD").as_string(),
              "v\xEF\xBF\xBD\xEF\xBF\xBD");
}

TEST(IsoTime, CountsInUtcWithMilliseconds) {
    EXPECT_EQ(iso_time(std::chrono::system_clock::time_point{}), "1970-01-01T00:00:00.000Z");
    EXPECT_EQ(iso_time(std::chrono::system_clock::time_point{-1ms}), "1969-12-31T23:59:59.999Z");
    EXPECT_EQ(iso_time(std::chrono::system_clock::time_point{951'782'400'000ms}),
              "2000-02-29T00:00:00.000Z");
}

}  // namespace
}  // namespace rollcall::cli
