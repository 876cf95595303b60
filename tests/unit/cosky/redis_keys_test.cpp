#include "rollcall/cosky/redis_keys.hpp"

#include <boost/json/serialize.hpp>
#include <gtest/gtest.h>

#include "support/vectors.hpp"

namespace rollcall::cosky {
namespace {

using test::rows;
using test::text;

TEST(RedisKeys, FollowsEveryVector) {
    for (auto const& value : rows("cosky/keys", "hash_tags")) {
        auto const& row = value.as_object();
        TRACE_ROW(row);
        auto const key = text(row, "key");
        EXPECT_EQ(RedisKeys::has_wrap(key), row.at("has_wrap").as_bool());
        EXPECT_EQ(RedisKeys::unwrap(key), text(row, "unwrap"));
        EXPECT_EQ(RedisKeys::of_key(true, key), text(row, "of_key_cluster"));
        EXPECT_EQ(RedisKeys::hash_tag(key), text(row, "of_key_cluster"));
        EXPECT_EQ(RedisKeys::of_key(false, key), key);
        EXPECT_EQ(RedisKeys::wrap(key), '{' + key + '}');
        EXPECT_EQ(RedisKeys::has_hash_tag(key), row.at("has_hash_tag").as_bool());
    }
}

TEST(RedisKeys, Defect26_AnEmptyTagIsToldFromOneThatAClusterHashes) {
    for (auto const* const key : {"{}", "a{}b", "{}{x}"}) {
        EXPECT_TRUE(RedisKeys::has_wrap(key)) << key;
        EXPECT_FALSE(RedisKeys::has_hash_tag(key)) << key;
    }
    // What the design makes of this key for a cluster is no use there.
    EXPECT_FALSE(RedisKeys::has_hash_tag(RedisKeys::of_key(true, "}{")));
    EXPECT_FALSE(RedisKeys::has_hash_tag(RedisKeys::of_key(true, "")));
    EXPECT_TRUE(RedisKeys::has_hash_tag(RedisKeys::of_key(true, "dev")));
}

}  // namespace
}  // namespace rollcall::cosky
