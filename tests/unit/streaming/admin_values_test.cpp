#include "streaming/admin_values.hpp"

#include <boost/json/serialize.hpp>
#include <gtest/gtest.h>
#include <string>

#include "unit/streaming/vectors.hpp"

namespace rollcall::streaming {
namespace {

using test::rows;
using test::text;

/// A typed value of the data file: a pair of type and value.
AdminValue value_in(boost::json::value const& pair) {
    auto const type = text(pair.at(0));
    auto const& value = pair.at(1);
    if (type == "bool") return value.as_bool();
    if (type == "integer") return value.as_int64();
    if (type == "number") return value.to_number<double>();
    if (type == "text") return text(value);
    if (type == "json") return JsonText{text(value)};
    EXPECT_EQ(type, "null");
    return nullptr;
}

TEST(ReadAdminValues, KeepsTypes) {
    for (auto const& row : rows("admin", "values")) {
        TRACE_ROW(row);
        auto const values = read_admin_values(text(row.at("text")));
        auto const* const expected = row.at("values").if_object();
        ASSERT_EQ(values.has_value(), expected != nullptr);
        if (!expected) continue;
        AdminValues wanted;
        for (auto const& [name, pair] : *expected) wanted.emplace(name, value_in(pair));
        EXPECT_EQ(*values, wanted);
    }
}

TEST(ReadAdminValues, ReplacesIllFormedUtf8) {
    EXPECT_EQ(read_admin_values("{\"a\":\"\xff\"}"), (AdminValues{{"a", "\uFFFD"}}));
}

TEST(ReadAdminValues, RefusesBottomlessNesting) {
    EXPECT_EQ(read_admin_values("{\"a\":" + std::string(100'000, '[')), std::nullopt);
}

TEST(MetricPool, SumsUp) {
    for (auto const& row : rows("admin", "pools")) {
        TRACE_ROW(row);
        MetricPool pool;
        for (auto const& metrics : row.at("metrics").as_array()) {
            auto const values = read_admin_values(text(metrics));
            ASSERT_TRUE(values);
            pool.add(*values);
        }
        auto const summaries = pool.summaries();
        auto const& expected = row.at("summaries").as_object();
        EXPECT_EQ(summaries.size(), expected.size());
        for (auto const& [name, figures] : expected) {
            auto const found = summaries.find(std::string_view{name});
            ASSERT_NE(found, summaries.end()) << name;
            EXPECT_DOUBLE_EQ(found->second.avg, figures.at(0).to_number<double>());
            EXPECT_DOUBLE_EQ(found->second.min, figures.at(1).to_number<double>());
            EXPECT_DOUBLE_EQ(found->second.max, figures.at(2).to_number<double>());
            EXPECT_EQ(found->second.count, figures.at(3).to_number<std::size_t>());
        }
    }
}

}  // namespace
}  // namespace rollcall::streaming
