// `rollcall choose`: an instance as callers choose it, and how they are spread.

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <chrono>
#include <gmock/gmock.h>
#include <map>

#include "documented_users.hpp"

namespace rollcall::test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::Ge;
using testing::HasSubstr;
using testing::Le;
using testing::Pair;
using testing::SizeIs;
using testing::UnorderedElementsAre;

class ChooseTest : public CliTest {
protected:
    void add(std::string const& id, int weight = 1) {
        must({"register", "--service", "web", "--id", id, "--host", "10.0.0.1", "--port", "80",
              "--weight", std::to_string(weight)});
    }
    static std::string only_id(Outcome const& outcome) {
        auto const chosen = outcome.json().as_array();
        EXPECT_THAT(chosen, SizeIs(1));
        return std::string{chosen.at(0).at("id").as_string()};
    }
    std::string choose(Arguments further = {}) {
        Arguments arguments{"choose", "web", "--output", "json"};
        arguments.insert(arguments.end(), further.begin(), further.end());
        return only_id(must(arguments));
    }
    std::map<std::string, std::int64_t> shares(Arguments further) {
        Arguments arguments{"choose", "web", "--output", "json"};
        arguments.insert(arguments.end(), further.begin(), further.end());
        std::map<std::string, std::int64_t> result;
        auto const rows = must(arguments).json().as_array();
        for (auto const& one : rows) {
            result.emplace(one.at("id").as_string(), one.at("chosen").as_int64());
        }
        return result;
    }
    void expect_usage_error(Arguments further, std::string const& message) {
        Arguments arguments{"choose", "web"};
        arguments.insert(arguments.end(), further.begin(), further.end());
        auto const outcome = run(arguments);
        EXPECT_EQ(outcome.code, 2);
        EXPECT_EQ(outcome.out, "");
        EXPECT_THAT(outcome.err, HasSubstr(message));
    }
};

TEST_F(ChooseTest, PrintsAnInstanceAsListDoes) {
    add("a", 3);
    auto const listed = list("web").at(0).as_object();
    auto const chosen = must({"choose", "web", "--output", "json"}).json().as_array();
    ASSERT_THAT(chosen, SizeIs(1));
    for (auto const& [name, value] : listed) {
        auto const* const same = chosen.at(0).as_object().if_contains(name);
        ASSERT_NE(same, nullptr) << name;
        EXPECT_TRUE(name == "lease_ms" || *same == value) << name;
    }
    EXPECT_THAT(chosen.at(0).at("lease_ms").as_int64(), AllOf(Ge(60'000), Le(90'000)));
    auto const outcome = must({"choose", "web"});
    EXPECT_THAT(outcome.out, AllOf(HasSubstr("ID  ADDRESS"), HasSubstr("a   http://10.0.0.1:80")));
    EXPECT_EQ(outcome.err, "");
    EXPECT_THAT(must({"choose", "web", "--output", "wide"}).out, HasSubstr("ephemeral"));
}

TEST_F(ChooseTest, ChoosesOnlyWhoMayGetTraffic) {
    for (auto const* id : {"a", "b", "c"}) add(id);
    add("d", 0);
    must({"disable", "--service", "web", "--id", "a"});
    redis().must({"HSET", "redis_streaming_registry:services:web:instance:b", "healthy", "false"});
    EXPECT_THAT(shares({"--count", "50"}),
                ElementsAre(Pair("a", 0), Pair("b", 0), Pair("c", 50), Pair("d", 0)));
    EXPECT_EQ(choose(), "c");
}

TEST_F(ChooseTest, SpreadsByTheBalancer) {
    add("a", 1);
    add("b", 3);
    EXPECT_THAT(shares({"--balancer", "round-robin", "--count", "400"}),
                ElementsAre(Pair("a", 100), Pair("b", 300)));
    for (auto const* name : {"weighted-random", "least-outstanding", "lowest-latency"}) {
        SCOPED_TRACE(name);
        auto const found = shares({"--balancer", name, "--count", "4000"});
        EXPECT_THAT(found, ElementsAre(Pair("a", Ge(500)), Pair("b", Ge(2'000))));
        EXPECT_EQ(found.at("a") + found.at("b"), 4'000);
    }
    // By default in proportion to the weights: 1,000 of 4,000 expected, six deviations of 27.4.
    EXPECT_THAT(shares({"--count", "4000"}).at("a"), AllOf(Ge(836), Le(1'164)));
}

TEST_F(ChooseTest, SendsEqualKeysToTheSameInstance) {
    for (auto const* id : {"a", "b", "c"}) add(id);
    auto const by_hash = [](std::string const& key) {
        return Arguments{"--balancer", "consistent-hash", "--key", key};
    };
    auto const chosen = choose(by_hash("user-1"));
    EXPECT_EQ(choose(by_hash("user-1")), chosen);
    auto with_count = by_hash("user-1");
    with_count.insert(with_count.end(), {"--count", "30"});
    EXPECT_EQ(shares(with_count).at(chosen), 30);
    // Without a key, many of them: the ring itself.
    EXPECT_THAT(shares({"--balancer", "consistent-hash", "--count", "3000"}),
                ElementsAre(Pair("a", Ge(300)), Pair("b", Ge(300)), Pair("c", Ge(300))));
    auto const unused = must({"choose", "web", "--key", "user-1"});
    EXPECT_EQ(unused.err,
              "rollcall: --key says nothing to weighted-random; only consistent-hash looks at "
              "it\n");
}

TEST_F(ChooseTest, ShowsSharesAsATableWithBars) {
    add("a", 1);
    add("b", 3);
    add("c", 0);
    EXPECT_EQ(must({"choose", "web", "--balancer", "round-robin", "--count", "8"}).out,
              "ID  WEIGHT  STATE  CHOSEN  SHARE  BAR\n"
              "a   1       up     2       25.0%  #############\n"
              "b   3       up     6       75.0%  ########################################\n"
              "c   0       up     0       0.0%   -\n");
}

TEST_F(ChooseTest, RefusesBadInput) {
    add("a");
    expect_usage_error({"--balancer", "robin"},
                       "--balancer \"robin\": must be weighted-random, round-robin, "
                       "least-outstanding, lowest-latency or consistent-hash");
    expect_usage_error({"--balancer", ""}, "--balancer");
    for (auto const* count : {"0", "-1", "1000001", "many"}) {
        expect_usage_error({"--count", count}, "--count \"" + std::string{count} +
                                                   "\": must be an integer from 1 to 1000000");
    }
    expect_usage_error({"--balancer", "consistent-hash"},
                       "--balancer \"consistent-hash\": needs --key, or --count for many keys");
    expect_usage_error({"--balancer", "consistent-hash", "--key", ""}, "--key");
    EXPECT_EQ(run({"choose"}).code, 2);
    EXPECT_EQ(run({"choose", " "}).code, 2);
}

TEST_F(ChooseTest, OfNobodyIsCode3) {
    add("a");
    auto const unknown = run({"choose", "wb", "--output", "json"});
    EXPECT_EQ(unknown.code, 3);
    EXPECT_EQ(unknown.out, "");
    EXPECT_EQ(unknown.err,
              "rollcall: no service \"wb\" is known in \"redis_streaming_registry\" (layout "
              "streaming); did you mean \"web\"?\n"
              "rollcall: no instance of the service is available: \"wb\"\n");
    must({"weight", "--service", "web", "--id", "a", "0"});
    for (Arguments const& words : {Arguments{"choose", "web"}, {"choose", "web", "--count", "9"}}) {
        auto const outcome = run(words);
        EXPECT_EQ(outcome.code, 3);
        EXPECT_EQ(outcome.out, "");
        EXPECT_EQ(outcome.err, "rollcall: no instance of the service is available: \"web\"\n");
    }
}

TEST_F(ChooseTest, FailsAsListDoes) {
    environment()["ROLLCALL_TIMEOUT"] = "10s";
    redis().must({"SET", "redis_streaming_registry:services:bad:heartbeats", "x"});
    auto const password = "unix://user:wrong@" + server().socket();
    for (Arguments const& words :
         {Arguments{"bad"}, {"web", "--url", password}, {"web", "--namespace", " "}}) {
        Arguments listing{"list"};
        Arguments choosing{"choose"};
        listing.insert(listing.end(), words.begin(), words.end());
        choosing.insert(choosing.end(), words.begin(), words.end());
        auto const expected = run(listing);
        auto const began = std::chrono::steady_clock::now();
        auto const outcome = run(choosing);
        EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds{9}) << "at once";
        EXPECT_NE(outcome.code, 0);
        EXPECT_EQ(outcome.code, expected.code);
        EXPECT_EQ(outcome.out, "");
        EXPECT_EQ(outcome.err, expected.err);
    }
    auto const away = run({"choose", "web", "--url", "unix:///nowhere.sock", "--timeout", "200ms"});
    EXPECT_EQ(away.code, 4);
    EXPECT_EQ(away.out, "");
}

TEST_F(ChooseTest, WorksInTheLayoutOfCosky) {
    environment()["ROLLCALL_LAYOUT"] = "cosky";
    for (auto const* port : {"80", "81"}) {
        must({"register", "--service", "web", "--host", "h", "--port", port});
    }
    must({"weight", "--service", "web", "--id", "web@http#h#81", "0"});
    EXPECT_EQ(choose(), "web@http#h#80");
    EXPECT_THAT(shares({"--balancer", "round-robin", "--count", "10"}),
                UnorderedElementsAre(Pair("web@http#h#80", 10), Pair("web@http#h#81", 0)));
    EXPECT_EQ(run({"choose", "nosuch"}).code, 3);
}

class ChooseRightsTest : public DocumentedUsersTest {
protected:
    ChooseRightsTest() : DocumentedUsersTest("redis-contract.md") {}
};

TEST_F(ChooseRightsTest, AReaderMayChoose) {
    must({"register", "--service", "web", "--id", "a", "--host", "h", "--port", "1"});
    become("reader");
    EXPECT_EQ(must({"choose", "web"}).err, "");
}

}  // namespace
}  // namespace rollcall::test
