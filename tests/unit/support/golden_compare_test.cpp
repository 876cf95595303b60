#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/golden_json.hpp"
#include "support/golden_state.hpp"

namespace rollcall::test::golden {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr Window window{1'760'000'000'000, 1'760'000'000'050};

LiveKey hash(std::map<std::string, std::string> fields, Expiry expiry = {}) {
    LiveKey key;
    key.fields = std::move(fields);
    key.expiry = expiry;
    return key;
}

LiveKey sorted_set(std::vector<std::pair<std::string, std::string>> scored) {
    LiveKey key;
    key.type = Type::zset;
    key.scored = std::move(scored);
    return key;
}

LiveKey set(std::set<std::string> members) {
    LiveKey key;
    key.type = Type::set;
    key.members = std::move(members);
    return key;
}

/// A state with one of everything, and what is expected of it.
class GoldenComparison : public testing::Test {
protected:
    GoldenComparison() {
        expected.keys = {{"h", hash({{"host", "a"},
                                     {"time", "{{now}}"},
                                     {"metadata", R"({"a":"1","b":"\/"})"},
                                     {"metrics", R"({"x":20,"y":{"a":1,"b":2}})"}},
                                    Expiry::set_in_step(90))},
                         {"s", set({"x", "y"})},
                         {"z", sorted_set({{"old", "1759999990000"}, {"new", "{{now}}"}})}};
        expected.messages = {{"c1", R"({"t":{{ms}}})"}, {"c2", "second"}};
        actual.keys = {{"h", hash({{"host", "a"},
                                   {"time", "1760000000020"},
                                   {"metadata", R"({"b":"\/","a":"1"})"},
                                   {"metrics", R"({"y":{"b":2.0,"a":1},"x":20.0})"}},
                                  Expiry::at(1'760'000'090'000))},
                       {"s", set({"x", "y"})},
                       {"z", sorted_set({{"old", "1759999990000"}, {"new", "1760000000020"}})}};
        actual.messages = {{"c1", R"({"t":1760000000050})"}, {"c2", "second"}};
    }

    std::vector<std::string> deviations() const { return compare(expected, actual, window); }

    auto& fields() { return actual.keys["h"].fields; }
    auto& scored() { return actual.keys["z"].scored; }

    Expectation expected;
    Actual actual;
};

TEST_F(GoldenComparison, AcceptsWhatIsFree) { EXPECT_THAT(deviations(), IsEmpty()); }

TEST_F(GoldenComparison, ReportsKeys) {
    actual.keys.erase("s");
    actual.keys["more"] = set({"x"});
    EXPECT_THAT(deviations(), ElementsAre("key \"s\" is missing", "key \"more\" is too much"));
}

TEST_F(GoldenComparison, ReportsTypes) {
    actual.keys["s"] = sorted_set({{"x", "1"}, {"y", "2"}});
    actual.keys["z"].type = Type::other;
    EXPECT_THAT(deviations(),
                ElementsAre("key \"s\", type: expected \"set\", is \"zset\"",
                            "key \"z\", type: expected \"zset\", is \"another type\""));
}

TEST_F(GoldenComparison, ReportsMembers) {
    actual.keys["s"].members = {"x", "q"};
    EXPECT_THAT(deviations(), ElementsAre("key \"s\": member \"y\" is missing",
                                          "key \"s\": member \"q\" is too much"));
}

TEST_F(GoldenComparison, ReportsFields) {
    fields()["host"] = "A";
    fields()["odd"] = "\n";
    fields().erase("time");
    EXPECT_THAT(deviations(), ElementsAre("key \"h\", field \"host\": expected \"a\", is \"A\"",
                                          "key \"h\": field \"time\" is missing",
                                          "key \"h\": field \"odd\" is too much, with \"\\n\""));
}

TEST_F(GoldenComparison, ReportsTimesOutsideTheStep) {
    for (auto const* time : {"1759999999999", "1760000000051", "176000000002", "17600000000200",
                             "1760000000020 ", "now", ""}) {
        fields()["time"] = time;
        EXPECT_EQ(deviations().size(), 1U) << time;
    }
}

TEST_F(GoldenComparison, ReportsSecondsOfAnotherStep) {
    expected.keys["h"].fields["time"] = "{{sec+60}}";
    fields()["time"] = "1760000060";
    EXPECT_THAT(deviations(), IsEmpty());
    for (auto const* time :
         {"1760000059", "1760000061", "01760000060", "1760000060 ", "+1760000060", "x", ""}) {
        fields()["time"] = time;
        EXPECT_EQ(deviations().size(), 1U) << time;
    }
    expected.keys["h"].fields["time"] = "{{sec}}";
    fields()["time"] = "1760000000";
    EXPECT_THAT(deviations(), IsEmpty());
}

TEST_F(GoldenComparison, ReportsAnotherEndOfALease) {
    expected.keys["h"].fields["time"] = lease_mark(1'760'000'045'700);
    for (auto const* time : {"1760000045", "1760000046"}) {
        fields()["time"] = time;
        EXPECT_THAT(deviations(), IsEmpty()) << time;
    }
    for (auto const* time : {"1760000044", "1760000047", "1760000045.0", ""}) {
        fields()["time"] = time;
        EXPECT_EQ(deviations().size(), 1U) << time;
    }
}

TEST_F(GoldenComparison, ReportsTtls) {
    for (auto const expiry :
         {Expiry{}, Expiry::at(1'760'000'089'999), Expiry::at(1'760'000'090'051)}) {
        actual.keys["h"].expiry = expiry;
        EXPECT_THAT(deviations(), ElementsAre(HasSubstr("TTL"))) << expiry.value;
    }
    expected.keys["h"].expiry = {};
    actual.keys["h"].expiry = Expiry::at(1'760'000'090'000);
    EXPECT_THAT(deviations(), ElementsAre(HasSubstr("TTL: expected none")));
    expected.keys["h"].expiry = Expiry::at(1'760'000'090'001);
    EXPECT_THAT(deviations(), ElementsAre(HasSubstr("TTL: expected until 1760000090001")));
}

TEST_F(GoldenComparison, ComparesMetadataByItsBytesSaveOrder) {
    for (auto const* text : {R"({"b":"/","a":"1"})", R"({"a":"1"})", R"({"a":"1","b":"\/","c":""})",
                             R"({"a":1,"b":"\/"})", R"({"a":"1", "b":"\/"})", R"({"a":"1","b":)"}) {
        fields()["metadata"] = text;
        EXPECT_THAT(deviations(), ElementsAre(HasSubstr("field \"metadata\""))) << text;
    }
}

TEST_F(GoldenComparison, ComparesMetricsByValue) {
    for (auto const* text : {R"({"x":21,"y":{"a":1,"b":2}})", R"({"x":20,"y":{"a":1}})",
                             R"({"x":"20","y":{"a":1,"b":2}})", R"({"x":20})", "{}", ""}) {
        fields()["metrics"] = text;
        EXPECT_THAT(deviations(), ElementsAre(HasSubstr("field \"metrics\""))) << text;
    }
}

TEST_F(GoldenComparison, ReportsScoresAndMembersOfSortedSets) {
    scored()[0].second = "1759999990001";
    EXPECT_THAT(deviations(),
                ElementsAre("key \"z\", score of \"old\": expected \"1759999990000\", is "
                            "\"1759999990001\""));
    scored() = {{"old", "1759999990000"}, {"other", "1760000000020"}};
    EXPECT_THAT(deviations(), ElementsAre("key \"z\": member \"new\" is missing",
                                          "key \"z\": member \"other\" is too much"));
    scored() = {{"old", "1759999990000"}, {"new", "1759999990001"}};
    EXPECT_THAT(deviations(), ElementsAre(HasSubstr("score of \"new\"")));
}

TEST_F(GoldenComparison, ReportsTheOrderOfSortedSetsUnlessScoresAreEqual) {
    expected.keys["z"] = sorted_set({{"b", "{{now}}"}, {"a", "{{now}}"}});
    actual.keys["z"] = sorted_set({{"a", "1760000000020"}, {"b", "1760000000020"}});
    EXPECT_THAT(deviations(), IsEmpty());
    actual.keys["z"] = sorted_set({{"a", "1760000000020"}, {"b", "1760000000021"}});
    EXPECT_THAT(deviations(), ElementsAre("key \"z\": \"a\" comes before \"b\""));
}

TEST_F(GoldenComparison, ReportsMessages) {
    std::swap(actual.messages[0], actual.messages[1]);
    EXPECT_THAT(deviations(), ElementsAre("message 1, channel: expected \"c1\", is \"c2\"",
                                          "message 2, channel: expected \"c2\", is \"c1\""));
    actual.messages = {expected.messages[0]};
    EXPECT_THAT(deviations(), ElementsAre("message 1: expected \"{\\\"t\\\":{{ms}}}\", is "
                                          "\"{\\\"t\\\":{{ms}}}\"",
                                          "message 2 is missing: \"second\""));
    actual.messages = {{"c1", R"({"t":1760000000050})"}, {"c2", "second"}, {"c2", "third"}};
    EXPECT_THAT(deviations(), ElementsAre("message 3 is too much: \"third\""));
}

TEST_F(GoldenComparison, ReportsPayloads) {
    for (auto const* payload :
         {R"({"t":1760000000051})", R"({"t":17600000000})", R"({"t":1760000000050} )",
          R"({"T":1760000000050})", R"({"t":"1760000000050"})", ""}) {
        actual.messages[0].payload = payload;
        EXPECT_THAT(deviations(), ElementsAre(HasSubstr("message 1: expected"))) << payload;
    }
}

TEST(GoldenResults, MayNameTheEndOfALease) {
    LiveKeys state;
    state["h"] = hash({{"a", "b"}}, Expiry::at(1'760'000'045'700));
    state["i"] = hash({{"a", "b"}});
    EXPECT_TRUE(same_result("[a]", "[a]", state));
    EXPECT_FALSE(same_result("[a]", "[b]", state));
    auto const* wanted = "[a ttl={{sec+56}} x, b ttl={{sec}}]";
    EXPECT_TRUE(same_result(wanted, "[a ttl=1760000045 x, b ttl=1760000046]", state));
    for (auto const* other :
         {"[a ttl=1760000044 x, b ttl=1760000046]", "[a ttl=1760000045 x, b ttl=1760000047]",
          "[a ttl=1760000045 y, b ttl=1760000046]", "[a ttl=1760000045 x, b ttl=1760000046",
          "[a ttl=-1 x, b ttl=1760000046]", "[a ttl= x, b ttl=1760000046]", "[a ttl="}) {
        EXPECT_FALSE(same_result(wanted, other, state)) << other;
    }
    EXPECT_FALSE(same_result("{{sec}}", "1760000045", {}));
}

TEST(GoldenJson, SortsMembersAtEveryLevel) {
    EXPECT_TRUE(same_but_for_order(R"({"a":{"x":[1,{"p":1,"q":"\"}"}],"y":2},"b":true})",
                                   R"({"b":true,"a":{"y":2,"x":[1,{"q":"\"}","p":1}]}})"));
    EXPECT_FALSE(same_but_for_order(R"({"a":[1,2]})", R"({"a":[2,1]})"));
    EXPECT_FALSE(same_but_for_order(R"({"a":1})", R"({"a":1.0})"));
    EXPECT_TRUE(same_by_value(R"({"a":[1,2e0]})", R"({"a":[1.0,2]})"));
    EXPECT_FALSE(same_by_value(R"({"a":[1,2]})", R"({"a":[2,1]})"));
    EXPECT_TRUE(same_but_for_order("not json", "not json"));
    EXPECT_FALSE(same_but_for_order("not json", "not  json"));
}

TEST(GoldenJson, Quotes) {
    EXPECT_EQ(in_quotes(std::string_view{"a\"\\\n\r\t\x00\xc3", 8}), R"("a\"\\\n\r\t\x00\xc3")");
}

}  // namespace
}  // namespace rollcall::test::golden
