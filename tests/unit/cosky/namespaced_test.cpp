#include "rollcall/cosky/namespaced.hpp"

#include <boost/json/serialize.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdexcept>

#include "support/refusal.hpp"
#include "support/vectors.hpp"

#include "rollcall/cosky/redis_keys.hpp"

namespace rollcall::cosky {
namespace {

using test::refusal;
using test::rows;
using test::text;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(ValidateNamespace, FollowsEveryVector) {
    for (auto const& value : rows("cosky/validation", "namespaces")) {
        auto const& row = value.as_object();
        TRACE_ROW(row);
        auto const ns = text(row, "ns");
        auto const why = refusal([&] { validate_namespace(ns); });
        if (text(row, "rule").empty()) {
            EXPECT_EQ(why, "");
        } else {
            EXPECT_THAT(why, AllOf(StartsWith("namespace \""), HasSubstr(text(row, "rule"))));
        }
    }
    EXPECT_EQ(refusal([] { validate_namespace("a\xff"); }), R"(namespace "a\xff": must be UTF-8)");
}

TEST(NamespacedContext, Defect27_BeginsAsTheDefaultNamespaceWithItsHashTag) {
    EXPECT_EQ(NamespacedContext{}.current(), "cosky-{default}");
    EXPECT_EQ(NamespacedContext{}.current(), Namespaced::default_namespace);
    EXPECT_TRUE(RedisKeys::has_hash_tag(NamespacedContext{}.current()));
}

TEST(NamespacedContext, CopiesShareTheNamespace) {
    NamespacedContext context{"{dev}"};
    auto copy = context;
    EXPECT_EQ(copy.current(), "{dev}");
    copy.set_current("{test}");
    EXPECT_EQ(context.current(), "{test}");
    EXPECT_EQ(NamespacedContext{}.current(), Namespaced::default_namespace);
}

TEST(NamespacedContext, KeepsItsNamespaceWhenItRefusesAnother) {
    NamespacedContext context{"{dev}"};
    EXPECT_THROW(context.set_current("a:b"), std::invalid_argument);
    EXPECT_EQ(context.current(), "{dev}");
    EXPECT_THROW(NamespacedContext{""}, std::invalid_argument);
}

TEST(Namespaced, SystemNamespaceIsTheDesigns) {
    EXPECT_EQ(Namespaced::system_namespace, "cosky-{system}");
    EXPECT_TRUE(RedisKeys::has_hash_tag(Namespaced::system_namespace));
}

}  // namespace
}  // namespace rollcall::cosky
