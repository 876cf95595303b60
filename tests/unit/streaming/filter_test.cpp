#include <boost/json/serialize.hpp>
#include <cstdint>
#include <functional>
#include <gtest/gtest.h>
#include <map>
#include <stdexcept>
#include <string>

#include "streaming/filter_document.hpp"
#include "unit/streaming/vectors.hpp"

#include "rollcall/streaming/filter_builder.hpp"

namespace rollcall::streaming {
namespace {

using test::rows;
using test::text;

Filters filters_in(boost::json::value const& value) {
    Filters filters;
    for (auto const& pair : value.as_array()) {
        filters.emplace_back(text(pair.at(0)), text(pair.at(1)));
    }
    return filters;
}

FilterNumber number_in(boost::json::value const& value) {
    if (auto const* const integer = value.if_int64()) return *integer;
    return value.as_double();
}

void call(FilterBuilder& builder, boost::json::array const& row) {
    using Text = FilterBuilder& (FilterBuilder::*)(std::string_view, std::string_view);
    using Number = FilterBuilder& (FilterBuilder::*)(std::string_view, FilterNumber const&);
    static std::map<std::string, Text, std::less<>> const texts{
        {"metadata_eq", &FilterBuilder::metadata_eq},
        {"metadata_ne", &FilterBuilder::metadata_ne},
        {"metrics_eq", &FilterBuilder::metrics_eq},
        {"metrics_ne", &FilterBuilder::metrics_ne},
    };
    static std::map<std::string, Number, std::less<>> const numbers{
        {"metadata_gt", &FilterBuilder::metadata_gt},
        {"metadata_gte", &FilterBuilder::metadata_gte},
        {"metadata_lt", &FilterBuilder::metadata_lt},
        {"metadata_lte", &FilterBuilder::metadata_lte},
        {"metrics_gt", &FilterBuilder::metrics_gt},
        {"metrics_gte", &FilterBuilder::metrics_gte},
        {"metrics_lt", &FilterBuilder::metrics_lt},
        {"metrics_lte", &FilterBuilder::metrics_lte},
    };
    auto const what = text(row[0]);
    auto const field = text(row[1]);
    if (auto const found = texts.find(what); found != texts.end()) {
        (builder.*found->second)(field, text(row[2]));
    } else {
        (builder.*numbers.at(what))(field, number_in(row[2]));
    }
}

TEST(FilterKey, IsTakenApartAtItsLastColon) {
    for (auto const& value : rows("filter_keys", "keys")) {
        auto const& row = value.as_object();
        TRACE_ROW(row);
        auto const key = text(row, "key");
        auto const parsed = parse_filter_key(key);
        EXPECT_EQ(parsed.field, text(row, "field"));
        EXPECT_EQ(symbol(parsed.comparison), text(row, "operator"));
    }
}

TEST(FilterKey, IsReadBackAsItWasWritten) {
    for (auto const comparison : {Comparison::eq, Comparison::ne, Comparison::gt, Comparison::ge,
                                  Comparison::lt, Comparison::le}) {
        for (std::string const field : {"", "a", "a:b", "a:==", ":", "é"}) {
            auto const key = filter_key(field, comparison);
            EXPECT_EQ(parse_filter_key(key), (FilterKey{field, comparison})) << key;
        }
    }
}

TEST(FilterBuilder, WritesKeysWithOperators) {
    for (auto const& value : rows("filter_keys", "builder")) {
        auto const& row = value.as_object();
        TRACE_ROW(row);
        FilterBuilder builder;
        for (auto const& step : row.at("calls").as_array()) call(builder, step.as_array());
        EXPECT_EQ(builder.metadata(), filters_in(row.at("metadata")));
        EXPECT_EQ(builder.metrics(), filters_in(row.at("metrics")));
    }
}

TEST(FilterBuilder, TakesAnyNumber) {
    FilterBuilder builder;
    builder.metadata_gt("a", 1)
        .metadata_gt("b", 10'000'000'000LL)
        .metadata_gt("c", std::uint64_t{18'446'744'073'709'551'615u})
        .metadata_gt("d", short{-1})
        .metadata_gt("e", 0.1f)
        .metadata_gt("f", 0.1);
    Filters const expected{{"a:>", "1"},  {"b:>", "10000000000"}, {"c:>", "18446744073709551615"},
                           {"d:>", "-1"}, {"e:>", "0.1"},         {"f:>", "0.1"}};
    EXPECT_EQ(builder.metadata(), expected);
}

TEST(FilterDocument, IsAlwaysInSections) {
    for (auto const& value : rows("filter_keys", "documents")) {
        auto const& row = value.as_object();
        TRACE_ROW(row);
        EXPECT_EQ(filter_document(filters_in(row.at("metadata")), filters_in(row.at("metrics"))),
                  text(row, "document"));
    }
}

TEST(FilterDocument, Defect34_AFieldCalledLikeASectionIsAFieldLikeOthers) {
    EXPECT_EQ(filter_document({{"metadata", "x"}}, {}),
              R"({"metadata":{"metadata":"x"},"metrics":{}})");
}

TEST(FilterDocument, RefusesWhatIsNotUtf8) {
    EXPECT_THROW(filter_document({{"\xff", "x"}}, {}), std::invalid_argument);
    EXPECT_THROW(filter_document({}, {{"x", "\xff"}}), std::invalid_argument);
}

}  // namespace
}  // namespace rollcall::streaming
