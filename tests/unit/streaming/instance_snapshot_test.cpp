#include "streaming/instance_snapshot.hpp"

#include <boost/json/serialize.hpp>
#include <gtest/gtest.h>
#include <optional>
#include <vector>

#include "streaming/event_text.hpp"
#include "unit/streaming/vectors.hpp"

namespace rollcall::streaming {
namespace {

using test::rows;

std::optional<ServiceInstance> parse(Metadata const& fields) {
    std::vector<InstanceEntryCodec::Field> const views{fields.begin(), fields.end()};
    return parse_snapshot("s", "i", views);
}

TEST(ParseSnapshot, FollowsEveryVector) {
    for (auto const& value : rows("snapshots", "cases")) {
        auto const& row = value.as_object();
        TRACE_ROW(row);
        auto const parsed = parse(test::metadata(row.at("fields")));
        ASSERT_EQ(parsed.has_value(), row.at("instance").is_object());
        if (!parsed) continue;
        auto expected = test::instance(row.at("instance").as_object());
        expected.service_name = "s";
        expected.instance_id = "i";
        EXPECT_EQ(*parsed, expected);
    }
}

TEST(ParseSnapshot, Defect68_AnExpiredHashIsAnnouncedWithoutInstance) {
    auto const parsed = parse({});
    EXPECT_EQ(parsed, std::nullopt);
    EXPECT_EQ(event_tail("s", "i", parsed ? &*parsed : nullptr),
              R"(","instanceId":"i","serviceName":"s","timestamp":)");
}

TEST(ParseSnapshot, Defect68_AnUnknownProtocolDoesNotDiscardTheSnapshot) {
    auto const parsed = parse({{"host", "h"}, {"port", "9"}, {"protocol", "gopher"}});
    ASSERT_TRUE(parsed);
    EXPECT_EQ(parsed->scheme, "http");
    EXPECT_EQ(parsed->port, 9);
}

}  // namespace
}  // namespace rollcall::streaming
