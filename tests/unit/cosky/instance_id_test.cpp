#include "rollcall/cosky/instance_id.hpp"

#include <boost/json/serialize.hpp>
#include <gtest/gtest.h>
#include <optional>
#include <string>

#include "support/vectors.hpp"

namespace rollcall::cosky {
namespace {

using test::rows;
using test::text;

InstanceIdParts parts_in(boost::json::value const& value) {
    auto const& row = value.as_object();
    return {text(row, "service_name"), text(row, "scheme"), text(row, "host"),
            row.at("port").to_number<int>()};
}

ServiceInstance plain() {
    ServiceInstance instance;
    instance.service_name = "s";
    instance.instance_id = "s@http#h#80";
    instance.host = "h";
    instance.port = 80;
    return instance;
}

TEST(ParseInstanceId, FollowsEveryVector) {
    for (auto const& value : rows("cosky/ids", "parse")) {
        auto const& row = value.as_object();
        TRACE_ROW(row);
        std::optional<InstanceIdParts> expected;
        if (row.at("parts").is_object()) expected = parts_in(row.at("parts"));
        EXPECT_EQ(parse_instance_id(text(row, "text")), expected);
    }
}

TEST(ParseInstanceId, Defect46_AnIdIsNeverReadAsAnother) {
    for (auto const& value : rows("cosky/ids", "parse")) {
        auto const& row = value.as_object();
        TRACE_ROW(row);
        auto const id = text(row, "text");
        auto const parts = parse_instance_id(id);
        if (!parts) continue;
        // Only brackets may be missing, around an address that has no other reading.
        EXPECT_EQ(as_instance_id(*parts), text(row, "canonical", id));
        EXPECT_EQ(parse_instance_id(as_instance_id(*parts)), parts);
    }
    for (auto const* const id : {"@svc@http#h#1", "@@svc@http#h#1", "svc@#http#h#1",
                                 "svc@##http#h#1", "svc@http#h#+80", "svc@http#h#080"}) {
        EXPECT_EQ(parse_instance_id(id), std::nullopt) << id;
    }
}

TEST(AsInstanceId, FollowsEveryVector) {
    for (auto const& value : rows("cosky/ids", "build")) {
        auto const& row = value.as_object();
        TRACE_ROW(row);
        auto const parts = parts_in(row.at("parts"));
        EXPECT_EQ(as_instance_id(parts), text(row, "text"));
        ServiceInstance instance;
        instance.service_name = parts.service_name;
        instance.scheme = parts.scheme;
        instance.host = parts.host;
        instance.port = parts.port;
        EXPECT_EQ(as_instance_id(instance), text(row, "text"));
    }
}

TEST(IsSecure, FollowsEveryVector) {
    for (auto const& value : rows("cosky/ids", "secure")) {
        auto const& row = value.as_object();
        TRACE_ROW(row);
        auto instance = plain();
        instance.scheme = text(row, "scheme");
        EXPECT_EQ(is_secure(instance), row.at("secure").as_bool());
    }
}

TEST(IsSameInstance, Defect48_WhatChangedIsSeenByEqualityAlone) {
    auto changed = plain();
    changed.weight = 9;
    changed.ephemeral = false;
    changed.metadata = {{"a", "b"}};
    EXPECT_TRUE(is_same_instance(plain(), changed));
    EXPECT_NE(plain(), changed);
}

TEST(IsSameInstance, ComparesTheFivePartsOfTheDesign) {
    auto const differs = [](auto&& change) {
        auto other = plain();
        change(other);
        return !is_same_instance(plain(), other);
    };
    EXPECT_TRUE(is_same_instance(plain(), plain()));
    EXPECT_TRUE(differs([](auto& other) { other.service_name = "t"; }));
    EXPECT_TRUE(differs([](auto& other) { other.scheme = "https"; }));
    EXPECT_TRUE(differs([](auto& other) { other.host = "i"; }));
    EXPECT_TRUE(differs([](auto& other) { other.port = 81; }));
    EXPECT_TRUE(differs([](auto& other) { other.instance_id = "custom"; }));
}

TEST(NamespacedInstanceId, IsOrderedByNamespaceThenId) {
    EXPECT_LT((NamespacedInstanceId{"a", "z"}), (NamespacedInstanceId{"b", "a"}));
    EXPECT_LT((NamespacedInstanceId{"a", "a"}), (NamespacedInstanceId{"a", "b"}));
    EXPECT_EQ((NamespacedInstanceId{"a", "a"}), (NamespacedInstanceId{"a", "a"}));
}

}  // namespace
}  // namespace rollcall::cosky
