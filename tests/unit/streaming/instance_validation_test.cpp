#include <boost/json/serialize.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdexcept>
#include <string>

#include "unit/streaming/vectors.hpp"

#include "rollcall/protocol.hpp"
#include "rollcall/streaming/instance_entry_codec.hpp"

namespace rollcall::streaming {
namespace {

using test::rows;
using test::text;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string refusal(ServiceInstance const& instance) {
    try {
        InstanceEntryCodec::validated(instance);
        return {};
    } catch (std::invalid_argument const& error) {
        return error.what();
    }
}

ServiceInstance plain() {
    ServiceInstance instance;
    instance.service_name = "s";
    instance.instance_id = "i";
    instance.host = "h";
    instance.port = 1;
    return instance;
}

TEST(ValidatedInstance, AcceptsAndFillsIn) {
    for (auto const& value : rows("validation", "accepted")) {
        auto const& row = value.as_object();
        TRACE_ROW(row);
        auto expected = row.at("given").as_object();
        for (auto const& [name, changed] : row.at("result").as_object()) expected[name] = changed;
        EXPECT_EQ(InstanceEntryCodec::validated(test::instance(row.at("given").as_object())),
                  test::instance(expected));
    }
}

TEST(ValidatedInstance, RefusesWithFieldAndRule) {
    for (auto const& value : rows("validation", "refused")) {
        auto const& row = value.as_object();
        TRACE_ROW(row);
        EXPECT_THAT(refusal(test::instance(row.at("given").as_object())),
                    AllOf(StartsWith(text(row, "field") + ' '), HasSubstr(text(row, "rule"))));
    }
}

TEST(ValidatedInstance, RefusesWhatIsNotUtf8) {
    auto instance = plain();
    instance.host = "h\xff";
    EXPECT_EQ(refusal(instance), R"(host "h\xff": must be UTF-8)");
    instance = plain();
    instance.metadata = {{"k", "\xff"}};
    EXPECT_EQ(refusal(instance), R"(metadata value "\xff": must be UTF-8)");
    instance.metadata = {{"\xff", "v"}};
    EXPECT_EQ(refusal(instance), R"(metadata key "\xff": must be UTF-8)");
    instance = plain();
    instance.service_name = "\xff";
    EXPECT_EQ(refusal(instance), R"(service name "\xff": must be UTF-8)");
}

TEST(ValidatedInstance, ShowsValuesOnOneLineAndShortened) {
    auto instance = plain();
    instance.host = "a\x1b[2J\n";
    EXPECT_EQ(refusal(instance), R"(host "a\x1b[2J\n": must not contain control characters)");
    instance.host = std::string(1'000'000, 'x');
    EXPECT_LT(refusal(instance).size(), 200u);
}

TEST(ValidatedInstance, Defect6_SanitisingNamesKeepsEverythingElse) {
    auto instance = plain();
    instance.instance_id = "box:80";
    instance.ephemeral = false;
    instance.enabled = false;
    instance.healthy = false;
    instance.weight = 7;
    instance.metadata = {{"a", "b"}};
    auto expected = instance;
    expected.instance_id = "box_80";
    EXPECT_EQ(InstanceEntryCodec::validated(instance), expected);
}

TEST(ValidatedInstance, Defect58_NoSchemeSilentlyBecomesHttp) {
    auto instance = plain();
    instance.scheme = "grpc";
    EXPECT_EQ(InstanceEntryCodec::validated(instance).scheme, "grpc");
    instance.scheme = "gopher";
    EXPECT_THAT(refusal(instance), StartsWith(R"(scheme "gopher": must be one of http, )"));
}

TEST(ValidatedInstance, IsAFixedPoint) {
    for (auto const& value : rows("validation", "accepted")) {
        auto const once =
            InstanceEntryCodec::validated(test::instance(value.at("given").as_object()));
        TRACE_ROW(value);
        EXPECT_EQ(InstanceEntryCodec::validated(once), once);
    }
}

TEST(Uri, FollowsEveryVector) {
    for (auto const& value : rows("keys", "uri")) {
        auto const& row = value.as_object();
        TRACE_ROW(row);
        EXPECT_EQ(uri(test::instance(row)), text(row, "result"));
    }
}

}  // namespace
}  // namespace rollcall::streaming
