#include "streaming/json_map.hpp"

#include <boost/json/serialize.hpp>
#include <cstddef>
#include <gtest/gtest.h>
#include <optional>
#include <random>
#include <string>
#include <string_view>

#include "unit/streaming/vectors.hpp"

namespace rollcall::streaming {
namespace {

using test::metadata;
using test::rows;
using test::text;

std::optional<Metadata> by_fast_path(std::string_view document) {
    Metadata members;
    if (!read_flat_json_map(document, members)) return std::nullopt;
    return members;
}

/// Flat objects and their neighbours: pieces in an order that is often, but not always, a document.
std::string random_document(std::mt19937& random) {
    static constexpr std::string_view pieces[] = {
        "{",        "}",        "\"a\"",    "\"b\"",     "\"\"",
        ":",        ",",        " ",        R"("x\/y")", R"("\n"),  "\"é\"", "1",
        "null",  R"("\u0041")",
        "\"\xff\"", "[",        "]",        "true",      "\"c\\",
        "\t",       "\"\x01\"", "\"中😀\"", "-0.0",      "\"@class\""};
    static constexpr std::string_view shapes[] = {"k",     "v", R"(\\)", R"(\")",
                                                  R"(\/)", "é", R"(\t)", "-"};
    auto const below = [&random](std::size_t n) { return random() % n; };
    std::string out;
    if (below(3) == 0) {
        for (auto n = below(12); n > 0; --n) out += pieces[below(std::size(pieces))];
        return out;
    }
    auto const string = [&] {
        std::string value = "\"";
        for (auto n = below(5); n > 0; --n) value += shapes[below(std::size(shapes))];
        return value + '"';
    };
    out = "{";
    for (auto n = below(6); n > 0; --n) {
        if (out.size() > 1) out += ',';
        out += string() + ':' + string();
    }
    out += '}';
    // One in two gets a fault or an unusual piece somewhere.
    if (below(2) == 0) out.insert(below(out.size() + 1), pieces[below(std::size(pieces))]);
    return out;
}

TEST(JsonMap, ReadsAsJavaDoes) {
    for (auto const& value : rows("json_map", "cases")) {
        auto const& row = value.as_object();
        TRACE_ROW(row);
        auto const result = read_json_map(text(row, "text"));
        if (row.at("members").is_null()) {
            EXPECT_EQ(result, std::nullopt);
        } else {
            EXPECT_EQ(result, metadata(row.at("members")));
        }
    }
}

TEST(JsonMap, ReplacesIllFormedUtf8) {
    EXPECT_EQ(read_json_map("{\"a\":\"x\xff\"}"), (Metadata{{"a", "x\uFFFD"}}));
    EXPECT_EQ(read_json_map("{\"\xc3\":\"\xe2\x82\"}"), (Metadata{{"\uFFFD", "\uFFFD"}}));
    EXPECT_EQ(read_json_map("{\"a\":1,\"b\":\"\xed\xa0\x80\"}"),
              (Metadata{{"a", "1"}, {"b", "\uFFFD\uFFFD\uFFFD"}}));
}

TEST(JsonMap, StopsAtAnUnescapedNul) {
    EXPECT_EQ(read_json_map(std::string_view{"{\"a\":\"\0\"}", 9}), std::nullopt);
}

TEST(FlatJsonMap, TakesTheUsualDocuments) {
    for (std::string_view const document :
         {R"({})", R"({"a":"b"})", R"({"b":"1","a":"\/\"\\"})", R"({ "é" : "中" })"}) {
        EXPECT_TRUE(by_fast_path(document)) << document;
    }
}

TEST(FlatJsonMap, LeavesTheUnusualToTheParser) {
    for (std::string_view const document :
         {R"({"a":1})", R"({"a":null})", R"({"a":"\u0041"})", R"({"a":{}})", "{\"a\":\"\xff\"}",
          R"({"a":"b",})", "[]", ""}) {
        EXPECT_FALSE(by_fast_path(document)) << document;
    }
}

TEST(FlatJsonMap, AgreesWithTheParserOnEveryVector) {
    for (auto const& value : rows("json_map", "cases")) {
        auto const document = text(value.as_object(), "text");
        TRACE_ROW(value);
        if (auto const fast = by_fast_path(document)) {
            EXPECT_EQ(fast, read_json_map_by_parser(document));
        }
    }
}

TEST(FlatJsonMap, AgreesWithTheParserOnRandomDocuments) {
    std::mt19937 random{20'240'607};
    std::size_t taken = 0;
    for (int i = 0; i < 50'000; ++i) {
        auto const document = random_document(random);
        auto const fast = by_fast_path(document);
        if (!fast) continue;
        ++taken;
        ASSERT_EQ(fast, read_json_map_by_parser(document)) << document;
    }
    EXPECT_GT(taken, 10'000u);
}

}  // namespace
}  // namespace rollcall::streaming
