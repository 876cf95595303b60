#include "rollcall/cosky/discovery_key_generator.hpp"

#include <boost/json/serialize.hpp>
#include <gtest/gtest.h>
#include <optional>
#include <string>

#include "support/vectors.hpp"

namespace rollcall::cosky {
namespace {

using Keys = DiscoveryKeyGenerator;
using test::rows;
using test::text;

std::optional<std::string> optional_text(boost::json::object const& row, std::string_view name) {
    if (row.at(name).is_null()) return std::nullopt;
    return text(row, name);
}

TEST(DiscoveryKeyGenerator, BuildsEveryKey) {
    for (auto const& value : rows("cosky/keys", "build")) {
        auto const& row = value.as_object();
        TRACE_ROW(row);
        auto const ns = text(row, "ns");
        EXPECT_EQ(Keys::service_idx_key(ns), text(row, "svc_idx"));
        EXPECT_EQ(Keys::service_stat_key(ns), text(row, "svc_stat"));
        EXPECT_EQ(Keys::instance_idx_key(ns, text(row, "service")), text(row, "svc_itc_idx"));
        EXPECT_EQ(Keys::instance_key_prefix(ns), text(row, "prefix"));
        EXPECT_EQ(Keys::instance_key(ns, text(row, "instance")), text(row, "svc_itc"));
        EXPECT_EQ(Keys::topology_idx_key(ns), text(row, "topology_idx"));
        EXPECT_EQ(Keys::topology_key(ns, text(row, "consumer")), text(row, "topology"));
    }
    EXPECT_EQ(Keys::namespace_idx_key(), "cosky-{system}:ns_idx");
}

TEST(DiscoveryKeyGenerator, TakesKeysApart) {
    for (auto const& value : rows("cosky/keys", "parse")) {
        auto const& row = value.as_object();
        TRACE_ROW(row);
        auto const key = text(row, "key");
        EXPECT_EQ(Keys::namespace_of_key(key), optional_text(row, "namespace"));
        EXPECT_EQ(Keys::instance_id_of_key(text(row, "ns"), key), optional_text(row, "instance"));
    }
}

TEST(DiscoveryKeyGenerator, Defect45_NoKeyOfAnotherFormGivesAnInstanceId) {
    auto const key = Keys::instance_key("a:b", "s@http#h#80");
    EXPECT_EQ(Keys::instance_id_of_key("a:b", key), "s@http#h#80");
    EXPECT_EQ(Keys::instance_id_of_key(Keys::namespace_of_key(key).value(), key), std::nullopt);
}

}  // namespace
}  // namespace rollcall::cosky
