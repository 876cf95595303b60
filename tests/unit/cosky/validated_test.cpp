#include <boost/json/serialize.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <utility>
#include <vector>

#include "support/refusal.hpp"
#include "support/vectors.hpp"

#include "rollcall/cosky/instance_id.hpp"
#include "rollcall/cosky/service_instance_codec.hpp"

namespace rollcall::cosky {
namespace {

using test::refusal;
using test::rows;
using test::text;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string why_not(ServiceInstance const& instance) {
    return refusal([&] { validated(instance); });
}

ServiceInstance plain() {
    ServiceInstance instance;
    instance.service_name = "s";
    instance.host = "h";
    instance.port = 80;
    return instance;
}

Metadata many(std::size_t pairs) {
    Metadata metadata;
    for (std::size_t i = 0; i < pairs; ++i) metadata.emplace(std::to_string(i), "");
    return metadata;
}

TEST(ValidatedInstance, AcceptsAndFillsIn) {
    for (auto const& value : rows("cosky/validation", "accepted")) {
        auto const& row = value.as_object();
        TRACE_ROW(row);
        auto expected = row.at("given").as_object();
        for (auto const& [name, changed] : row.at("result").as_object()) expected[name] = changed;
        EXPECT_EQ(validated(test::instance(row.at("given").as_object())), test::instance(expected));
    }
}

TEST(ValidatedInstance, IsAFixedPointThatIsReadBackAsItIs) {
    for (auto const& value : rows("cosky/validation", "accepted")) {
        auto const once = validated(test::instance(value.at("given").as_object()));
        TRACE_ROW(value);
        EXPECT_EQ(validated(once), once);
        auto const stored = ServiceInstanceCodec::encode(once);
        std::vector<ServiceInstanceCodec::Field> const fields{stored.begin(), stored.end()};
        auto const found = ServiceInstanceCodec::decode(fields);
        ASSERT_TRUE(found);
        EXPECT_EQ(found->instance, once);
    }
}

TEST(ValidatedInstance, RefusesWithFieldAndRule) {
    for (auto const& value : rows("cosky/validation", "refused")) {
        auto const& row = value.as_object();
        TRACE_ROW(row);
        EXPECT_THAT(why_not(test::instance(row.at("given").as_object())),
                    AllOf(StartsWith(text(row, "field") + ' '), HasSubstr(text(row, "rule"))));
    }
}

TEST(ValidatedInstance, RefusesWhatIsNotUtf8) {
    auto instance = plain();
    instance.service_name = "\xff";
    EXPECT_EQ(why_not(instance), R"(service name "\xff": must be UTF-8)");
    instance = plain();
    instance.scheme = "a\xff";
    EXPECT_EQ(why_not(instance), R"(scheme "a\xff": must be UTF-8)");
    instance = plain();
    instance.host = "h\xff";
    EXPECT_EQ(why_not(instance), R"(host "h\xff": must be UTF-8)");
    instance = plain();
    instance.metadata = {{"\xff", "v"}};
    EXPECT_EQ(why_not(instance), R"(metadata key "\xff": must be UTF-8)");
    instance.metadata = {{"k", "\xff"}};
    EXPECT_EQ(why_not(instance), R"(metadata value "\xff": must be UTF-8)");
}

TEST(ValidatedInstance, BoundsTheMetadata) {
    auto instance = plain();
    instance.metadata = many(max_metadata_pairs);
    EXPECT_EQ(why_not(instance), "");
    instance.metadata = many(max_metadata_pairs + 1);
    EXPECT_EQ(why_not(instance), R"(metadata "10001 pairs": must not be more than 10000)");
    instance.metadata = {{"key", std::string(max_metadata_size - 3, 'x')}};
    EXPECT_EQ(why_not(instance), "");
    instance.metadata["a"] = "";
    EXPECT_EQ(why_not(instance), R"(metadata "65537 bytes": must not be longer than 65536 bytes)");
}

TEST(ValidatedInstance, Defect18_NoIdIsWrittenThatPeersCannotRead) {
    for (auto const& value : rows("cosky/validation", "accepted")) {
        auto const stored = validated(test::instance(value.at("given").as_object()));
        TRACE_ROW(value);
        InstanceIdParts const parts{stored.service_name, stored.scheme, stored.host, stored.port};
        EXPECT_EQ(parse_instance_id(stored.instance_id), parts);
        EXPECT_EQ(as_instance_id(parts), stored.instance_id);
    }
    for (auto const* const bad : {"", " ", "a@b", "a#b"}) {
        auto instance = plain();
        instance.service_name = bad;
        EXPECT_THAT(why_not(instance), StartsWith("service name ")) << bad;
        EXPECT_THAT(refusal([&] { validate_service(bad); }), StartsWith("service name ")) << bad;
        instance = plain();
        instance.scheme = bad;
        EXPECT_THAT(why_not(instance), StartsWith("scheme ")) << bad;
        instance = plain();
        instance.host = bad;
        EXPECT_THAT(why_not(instance), StartsWith("host ")) << bad;
    }
}

TEST(ValidatedInstance, NeitherAnAddressNorANameIsNoHost) {
    for (auto const* const bad : {"1:2:3", "::1::", "fe80::g", "1:2:3:4:5:6:7:8:9", "a:b:c"}) {
        auto instance = plain();
        instance.host = bad;
        EXPECT_THAT(why_not(instance), testing::EndsWith("must be a name or an address")) << bad;
    }
}

TEST(ValidatedInstance, Defect47_AddressesAreStoredSoThatAUriCanBeMadeOfThem) {
    for (auto const* const host : {"::1", "fe80::1%eth0"}) {
        auto instance = plain();
        instance.host = host;
        auto const stored = validated(instance);
        auto const in_brackets = '[' + std::string{host} + ']';
        EXPECT_EQ(stored.instance_id, "s@http#" + in_brackets + "#80");
        EXPECT_EQ(ServiceInstanceCodec::encode(stored)[3],
                  (std::pair<std::string, std::string>{"host", in_brackets}));
    }
    // A URI of ours is a text: no scheme and no host makes it fail.
    auto instance = plain();
    instance.host = "fe80::1%eth0";
    EXPECT_EQ(uri(instance), "http://[fe80::1%25eth0]:80");
    instance.scheme = "__";
    instance.host = "10.0.0.1";
    instance.port = 4242;
    EXPECT_EQ(uri(validated(instance)), "__://10.0.0.1:4242");
}

}  // namespace
}  // namespace rollcall::cosky
