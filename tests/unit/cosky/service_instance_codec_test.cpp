#include "rollcall/cosky/service_instance_codec.hpp"

#include <boost/json/serialize.hpp>
#include <gtest/gtest.h>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "support/refusal.hpp"
#include "support/vectors.hpp"

namespace rollcall::cosky {
namespace {

using Codec = ServiceInstanceCodec;
using Texts = std::vector<std::pair<std::string, std::string>>;
using test::refusal;
using test::rows;
using test::text;

Texts texts_in(boost::json::value const& value) {
    Texts texts;
    for (auto const& field : value.as_array())
        texts.emplace_back(text(field.at(0)), text(field.at(1)));
    return texts;
}

std::optional<DiscoveredInstance> decoded(Texts const& texts) {
    std::vector<Codec::Field> const fields{texts.begin(), texts.end()};
    return Codec::decode(fields);
}

Texts plain() {
    return {{"instanceId", "s@http#h#80"},
            {"serviceId", "s"},
            {"schema", "http"},
            {"host", "h"},
            {"port", "80"},
            {"weight", "1"},
            {"ephemeral", "true"}};
}

TEST(MetadataKeys, AreEncoded) {
    for (auto const& value : rows("cosky/codec", "metadata_keys")) {
        auto const& row = value.as_object();
        TRACE_ROW(row);
        auto const key = text(row, "key");
        if (row.at("field").is_null()) {
            EXPECT_EQ(refusal([&] { Codec::encode_metadata_key(key); }),
                      "metadata key \"" + key + "\": must not begin with '_'");
        } else {
            EXPECT_EQ(Codec::encode_metadata_key(key), text(row, "field"));
            EXPECT_EQ(Codec::decode_metadata_key(text(row, "field")), key);
        }
    }
}

TEST(MetadataKeys, AreDecoded) {
    for (auto const& value : rows("cosky/codec", "fields")) {
        auto const& row = value.as_object();
        TRACE_ROW(row);
        auto const field = text(row, "field");
        auto const key = Codec::decode_metadata_key(field);
        ASSERT_EQ(key.has_value(), row.at("key").is_string());
        if (key) {
            EXPECT_EQ(*key, text(row, "key"));
        }
    }
}

TEST(Hosts, AreStoredWithBracketsAroundIpv6AndReadEitherWay) {
    for (auto const& value : rows("cosky/codec", "hosts")) {
        auto const& row = value.as_object();
        TRACE_ROW(row);
        auto const host = text(row, "host");
        auto const stored = text(row, "stored");
        EXPECT_EQ(Codec::encode_host(host), stored);
        EXPECT_EQ(Codec::encode_host(stored), stored);
        EXPECT_EQ(Codec::decode_host(stored), host);
        EXPECT_EQ(Codec::decode_host(host), host);
    }
}

TEST(Encode, WritesEveryVector) {
    for (auto const& value : rows("cosky/codec", "encode")) {
        auto const& row = value.as_object();
        TRACE_ROW(row);
        auto const instance = test::instance(row.at("instance").as_object());
        EXPECT_EQ(Codec::encode(instance), texts_in(row.at("fields")));
        auto const found = decoded(Codec::encode(instance));
        ASSERT_TRUE(found);
        EXPECT_EQ(found->instance, instance);
    }
}

TEST(Encode, RefusesReservedMetadataKeys) {
    ServiceInstance instance;
    instance.metadata = {{"_x", ""}};
    EXPECT_NE(refusal([&] { Codec::encode(instance); }), "");
}

TEST(Decode, FollowsEveryVector) {
    for (auto const& value : rows("cosky/codec", "decode")) {
        auto const& row = value.as_object();
        TRACE_ROW(row);
        auto const found = decoded(texts_in(row.at("fields")));
        ASSERT_EQ(found.has_value(), row.at("instance").is_object());
        if (!found) continue;
        EXPECT_EQ(found->instance, test::instance(row.at("instance").as_object()));
        EXPECT_EQ(found->ttl_at, row.at("ttl_at").as_int64());
        EXPECT_EQ(found->state.lease_until, std::nullopt);
        EXPECT_FALSE(found->state.suspect);
    }
}

TEST(Decode, ReplacesIllFormedUtf8SaveInNames) {
    auto texts = plain();
    texts[0].second = "s\xff@http#h#80";
    texts[1].second = "s\xff";
    texts[2].second = "http\xff";
    texts[3].second = "h\xff";
    texts.emplace_back("_k\xfe", "\xc3\r\n");
    texts.emplace_back("_k\xff", "later");
    auto const found = decoded(texts);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->instance.instance_id, "s\xff@http#h#80");
    EXPECT_EQ(found->instance.service_name, "s\xff");
    EXPECT_EQ(found->instance.scheme, "http\uFFFD");
    EXPECT_EQ(found->instance.host, "h\uFFFD");
    EXPECT_EQ(found->instance.metadata, (Metadata{{"k\uFFFD", "later"}}));
}

TEST(Decode, Defect2_AnInstanceInItsLastHalfSecondIsFoundAboutToExpire) {
    auto const found = decoded(plain());
    ASSERT_TRUE(found);
    EXPECT_TRUE(found->instance.ephemeral);
    EXPECT_EQ(found->ttl_at, 0);
    EXPECT_TRUE(is_expired(*found, 1));
}

TEST(IsExpired, FollowsEveryVector) {
    for (auto const& value : rows("cosky/codec", "expired")) {
        auto const& row = value.as_object();
        TRACE_ROW(row);
        DiscoveredInstance found;
        found.instance.ephemeral = row.at("ephemeral").as_bool();
        found.ttl_at = row.at("ttl_at").as_int64();
        EXPECT_EQ(is_expired(found, row.at("now").as_int64()), row.at("expired").as_bool());
    }
}

}  // namespace
}  // namespace rollcall::cosky
