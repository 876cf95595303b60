// What each command does, and the shapes and exit codes that programs depend on.

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fstream>
#include <gmock/gmock.h>
#include <regex>

#include "program.hpp"

namespace rollcall::test {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class CommandsTest : public CliTest {
protected:
    Outcome add(std::string const& service, std::string const& id, Arguments further = {}) {
        Arguments arguments{"register", "--service", service,  "--id", id,
                            "--host",   "10.0.0.1",  "--port", "8080"};
        arguments.insert(arguments.end(), further.begin(), further.end());
        return must(arguments);
    }
    std::vector<std::string> ids(std::string const& service, Arguments further = {}) {
        std::vector<std::string> result;
        for (auto const& one : list(service, std::move(further))) {
            result.emplace_back(one.at("id").as_string());
        }
        return result;
    }
    std::string hash_field(std::string const& id, std::string const& field) {
        auto const key = "redis_streaming_registry:services:web:instance:" + id;
        return redis().must({"HGET", key, field}).text;
    }
};

std::vector<std::string> keys_of(boost::json::value const& value) {
    std::vector<std::string> keys;
    for (auto const& member : value.as_object()) keys.emplace_back(member.key());
    return keys;
}

TEST_F(CommandsTest, RegisterPrintsTheStoredIdAndStoresEverything) {
    auto const outcome =
        must({"register", "--service", "web", "--host", "10.0.0.5", "--port", "8080", "--scheme",
              "HTTPS", "--weight", "5", "--metadata", "zone=b"});
    EXPECT_EQ(outcome.out, "web-10.0.0.5_8080\n");
    auto const instances = list("web");
    ASSERT_EQ(instances.size(), 1u);
    auto const& instance = instances.at(0);
    EXPECT_THAT(keys_of(instance),
                ElementsAre("service", "id", "scheme", "host", "port", "weight", "ephemeral",
                            "enabled", "healthy", "metadata", "lease_ms", "registered_at"));
    EXPECT_EQ(instance.at("service").as_string(), "web");
    EXPECT_EQ(instance.at("scheme").as_string(), "https");
    EXPECT_EQ(instance.at("host").as_string(), "10.0.0.5");
    EXPECT_EQ(instance.at("port").as_int64(), 8'080);
    EXPECT_EQ(instance.at("weight").as_int64(), 5);
    EXPECT_TRUE(instance.at("ephemeral").as_bool());
    EXPECT_TRUE(instance.at("enabled").as_bool());
    EXPECT_TRUE(instance.at("healthy").as_bool());
    EXPECT_EQ(instance.at("metadata").at("zone").as_string(), "b");
    EXPECT_GT(instance.at("lease_ms").as_int64(), 80'000);
    EXPECT_LE(instance.at("lease_ms").as_int64(), 90'000);
    std::string const registered{instance.at("registered_at").as_string()};
    EXPECT_TRUE(
        std::regex_match(registered, std::regex{R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)"}))
        << registered;
}

TEST_F(CommandsTest, RegisterSaysWhetherItWasThereBefore) {
    Arguments const again{"register", "--service", "web", "--id",     "a",   "--host",
                          "h",        "--port",    "1",   "--output", "json"};
    EXPECT_EQ(must(again).out, R"({"service":"web","id":"a","created":true,"announced":true})"
                               "\n");
    EXPECT_EQ(must(again).out, R"({"service":"web","id":"a","created":false,"announced":true})"
                               "\n");
}

TEST_F(CommandsTest, RegisterWithoutAHostFindsAnAddressThatIsNotLoopback) {
    must({"register", "--service", "web", "--id", "a", "--port", "1"});
    std::string const host{list("web").at(0).at("host").as_string()};
    EXPECT_FALSE(host.empty());
    EXPECT_FALSE(host.starts_with("127.")) << host;
    EXPECT_NE(host, "::1");
    environment()["ROLLCALL_HOST"] = "from.environment";
    must({"register", "--service", "web", "--id", "a", "--port", "1"});
    EXPECT_EQ(list("web").at(0).at("host").as_string(), "from.environment");
}

TEST_F(CommandsTest, PersistentInstancesHaveNoTtl) {
    add("web", "a", {"--persistent"});
    EXPECT_EQ(redis().must({"TTL", "redis_streaming_registry:services:web:instance:a"}).integer,
              -1);
    EXPECT_FALSE(list("web").at(0).at("ephemeral").as_bool());
}

TEST_F(CommandsTest, ServicesCountsInstances) {
    EXPECT_EQ(must({"services", "--output", "json"}).out, "[]\n");
    add("web", "a");
    add("web", "b");
    add("db", "c");
    EXPECT_EQ(must({"services", "--output", "json"}).out,
              R"([{"service":"db","instances":1},{"service":"web","instances":2}])"
              "\n");
    EXPECT_EQ(must({"services"}).out,
              "SERVICE  INSTANCES\n"
              "db       1\n"
              "web      2\n");
}

TEST_F(CommandsTest, ServicesCountsTheInstancesOfStatThatAreNotSilent) {
    for (auto const* id : {"a", "b", "c"}) add("web", id);
    must({"disable", "--service", "web", "--id", "b"});
    redis().must({"ZADD", "redis_streaming_registry:services:web:heartbeats", "1000", "c"});
    auto const services = must({"services", "--output", "json"}).json().as_array();
    auto const stat = must({"stat", "--output", "json"}).json().at("total");
    EXPECT_EQ(services.at(0).at("instances").as_int64(), 2);
    EXPECT_EQ(stat.at("instances").as_int64(), 3);
    EXPECT_EQ(stat.at("silent").as_int64(), 1);
}

TEST_F(CommandsTest, ListShowsWhatCallersMayBeSentTo) {
    for (auto const* id : {"d", "b", "a", "c"}) add("web", id);
    must({"disable", "--service", "web", "--id", "b"});
    redis().must({"HSET", "redis_streaming_registry:services:web:instance:c", "healthy", "false"});
    EXPECT_THAT(ids("web"), ElementsAre("a", "d"));
    EXPECT_THAT(ids("web", {"--all"}), ElementsAre("a", "b", "c", "d"));
    EXPECT_THAT(must({"list", "web", "-a"}).out, HasSubstr("disabled"));
    EXPECT_THAT(must({"list", "web", "-a"}).out, HasSubstr("unhealthy"));
}

TEST_F(CommandsTest, ListOfNothingIsEmptyAndFine) {
    EXPECT_EQ(must({"list", "nosuch", "--output", "json"}).out, "[]\n");
    EXPECT_EQ(must({"list", "nosuch"}).out, "ID  ADDRESS  WEIGHT  STATE  LEASE\n");
}

TEST_F(CommandsTest, ListWideShowsEveryField) {
    add("web", "a", {"--metadata", "zone=b", "--weight", "7"});
    auto const out = must({"list", "web", "--output", "wide"}).out;
    for (auto const* text : {"web", "http", "10.0.0.1", "8080", "7", "up", "ephemeral", "zone=b"}) {
        EXPECT_THAT(out, HasSubstr(text));
    }
}

TEST_F(CommandsTest, ListFiltersOnTheServer) {
    add("web", "a", {"--metadata", "region=eu", "--metadata", "weight=10"});
    add("web", "b", {"--metadata", "region=us", "--metadata", "weight=9"});
    add("web", "c", {"--metadata", "region=e=u=="});
    redis().must(
        {"HSET", "redis_streaming_registry:services:web:instance:a", "metrics", R"({"cpu":45.5})"});
    EXPECT_THAT(ids("web", {"--where", "region==eu"}), ElementsAre("a"));
    EXPECT_THAT(ids("web", {"--where", "region!=eu"}), ElementsAre("b", "c"));
    EXPECT_THAT(ids("web", {"--where", "weight>=9"}), ElementsAre("a", "b")) << "as numbers";
    EXPECT_THAT(ids("web", {"--where", "weight>=9", "--where", "region==us"}), ElementsAre("b"));
    EXPECT_THAT(ids("web", {"--where", "region==e=u=="}), ElementsAre("c"));
    EXPECT_THAT(ids("web", {"--metric", "cpu<80"}), ElementsAre("a"));
    EXPECT_THAT(ids("web", {"--metric", "cpu<8"}), ElementsAre());
    auto const before = must({"list", "--where", "region==eu", "web", "--output", "json"}).out;
    EXPECT_THAT(before, AllOf(HasSubstr(R"("id":"a")"), Not(HasSubstr(R"("id":"b")"))))
        << "card BC-06: an option may stand in front of the name";
    auto const bad = run({"list", "web", "--where", "region~eu"});
    EXPECT_EQ(bad.code, 2);
    EXPECT_THAT(bad.err, HasSubstr("--where \"region~eu\": must be FIELD OPERATOR VALUE"));
}

TEST_F(CommandsTest, ChangesAreGuardedByExistence) {
    for (Arguments const& words :
         {Arguments{"deregister"}, Arguments{"enable"}, Arguments{"disable"},
          Arguments{"weight", "3"}, Arguments{"metadata", "clear"},
          Arguments{"metadata", "set", "a=b"}, Arguments{"metadata", "merge", "a=b"},
          Arguments{"heartbeat"}}) {
        auto arguments = words;
        arguments.insert(arguments.end(), {"--service", "web", "--id", "a"});
        EXPECT_EQ(run(arguments).code, 3) << words.front();
    }
    EXPECT_EQ(redis().must({"KEYS", "*services*"}).elements.size(), 0u) << "nothing was created";
}

TEST_F(CommandsTest, ChangesAreStoredAndReported) {
    add("web", "a", {"--metadata", "x=1"});
    auto const change = [this](Arguments words) {
        words.insert(words.end(), {"--service", "web", "--id", "a"});
        return must(words).out;
    };
    EXPECT_EQ(change({"disable"}), "disabled a\n");
    EXPECT_EQ(hash_field("a", "enabled"), "false");
    EXPECT_EQ(change({"enable", "--output", "json"}),
              R"({"service":"web","id":"a","done":"enabled","announced":true})"
              "\n");
    EXPECT_EQ(hash_field("a", "enabled"), "true");
    change({"weight", "0"});
    EXPECT_EQ(hash_field("a", "weight"), "0");
    change({"metadata", "merge", "y=2", "x=3"});
    EXPECT_EQ(hash_field("a", "metadata"), R"({"x":"3","y":"2"})");
    change({"metadata", "set", "z=4"});
    EXPECT_EQ(hash_field("a", "metadata"), R"({"z":"4"})");
    change({"metadata", "clear"});
    EXPECT_EQ(hash_field("a", "metadata"), "{}");
    EXPECT_EQ(change({"deregister"}), "deregistered a\n");
    EXPECT_THAT(ids("web", {"--all"}), ElementsAre());
}

// Card BC-06.
TEST_F(CommandsTest, MetadataValuesAreKeptExactly) {
    add("web", "a",
        {"--metadata", "u=redis://h:1/0?x=1,y=2", "--metadata", "q=a=b==", "--metadata",
         "e=", "--metadata", R"(j={"a":[1,2]})", "--metadata", "l=[1,2]", "--metadata=s= a "});
    auto const metadata = list("web").at(0).at("metadata");
    EXPECT_EQ(metadata.at("u").as_string(), "redis://h:1/0?x=1,y=2");
    EXPECT_EQ(metadata.at("q").as_string(), "a=b==");
    EXPECT_EQ(metadata.at("e").as_string(), "");
    EXPECT_EQ(metadata.at("j").as_string(), R"({"a":[1,2]})");
    EXPECT_EQ(metadata.at("l").as_string(), "[1,2]");
    EXPECT_EQ(metadata.at("s").as_string(), " a ");
    for (auto const* bad : {"=v", "novalue", ""}) {
        EXPECT_EQ(
            run({"register", "--service", "s", "--host", "h", "--port", "1", "--metadata", bad})
                .code,
            2)
            << bad;
    }
    auto const weight = run({"weight", "--service", "web", "--id", "a", "-5"});
    EXPECT_EQ(weight.code, 2);
    EXPECT_EQ(weight.err, "rollcall: weight \"-5\": must be an integer from 0 to 1000000\n");
}

// Card BC-01.
TEST_F(CommandsTest, ALeaseIsStoredExactlyOrRefused) {
    struct Case {
        std::string lease;
        int code;
        long long milliseconds;
    };
    for (Case const& one : {Case{"400ms", 2, 0}, Case{"1500ms", 2, 0}, Case{"0", 2, 0},
                            Case{"-5s", 2, 0}, Case{"90", 0, 90'000}, Case{"1h30m", 0, 5'400'000},
                            Case{"99999999h", 2, 0}, Case{"5s", 0, 5'000}, Case{"", 2, 0}}) {
        auto const outcome = run({"register", "--service", "t", "--id", "a", "--host", "10.0.0.1",
                                  "--port", "1", "--lease", one.lease});
        EXPECT_EQ(outcome.code, one.code) << one.lease;
        auto const ttl =
            redis().must({"PTTL", "redis_streaming_registry:services:t:instance:a"}).integer;
        if (one.code == 0) {
            EXPECT_GE(ttl, one.milliseconds - 2'000) << one.lease;
            EXPECT_LE(ttl, one.milliseconds) << one.lease;
            EXPECT_THAT(ids("t", {"--lease", one.lease}), ElementsAre("a"));
            must({"deregister", "--service", "t", "--id", "a"});
        } else {
            EXPECT_THAT(outcome.err, HasSubstr("--lease \"" + one.lease + "\": must be"));
            EXPECT_EQ(ttl, -2) << "nothing was sent";
        }
    }
}

// Card BC-12.
TEST_F(CommandsTest, OddHostsAreKeptExactlyOrRefused) {
    struct Case {
        std::string host;
        std::string uri;
    };
    for (Case const& one : {Case{"svc_a.internal", "http://svc_a.internal:80"},
                            Case{"fe80::1%lo", "http://[fe80::1%25lo]:80"},
                            Case{"::ffff:127.0.0.1", "http://[::ffff:127.0.0.1]:80"},
                            Case{"name.", "http://name.:80"}, Case{"a%n%s", "http://a%n%s:80"}}) {
        must({"register", "--service", "t", "--id", "a", "--host", one.host, "--port", "80"});
        EXPECT_EQ(list("t").at(0).at("host").as_string(), one.host);
        EXPECT_THAT(must({"list", "t"}).out, HasSubstr(one.uri));
    }
    for (auto const& host : {std::string{"[::1]"}, std::string(254, 'a'), std::string{"a b"},
                             std::string{"a\nb"}, std::string{"\xFF"}, std::string{"  "}}) {
        auto const outcome =
            run({"register", "--service", "bad", "--id", "a", "--host", host, "--port", "80"});
        EXPECT_EQ(outcome.code, 2) << host;
        EXPECT_THAT(outcome.err, StartsWith("rollcall: host \"")) << host;
    }
    EXPECT_THAT(ids("bad", {"--all"}), ElementsAre());
}

TEST_F(CommandsTest, StatCounts) {
    add("web", "a");
    add("web", "b", {"--persistent"});
    add("web", "c");
    must({"disable", "--service", "web", "--id", "c"});
    redis().must({"ZADD", "redis_streaming_registry:services:web:heartbeats", "1000", "b"});
    EXPECT_EQ(must({"stat", "--output", "json"}).out,
              R"({"layout":"streaming","services":[{"service":"web","instances":3,"available":1,)"
              R"("disabled":1,"unhealthy":0,"silent":1,"persistent":1}],)"
              R"("total":{"instances":3,"available":1,"disabled":1,"unhealthy":0,"silent":1,)"
              R"("persistent":1}})"
              "\n");
    EXPECT_THAT(must({"stat"}).out, HasSubstr("(total)  3"));
}

TEST_F(CommandsTest, CleanupRemovesWhatExpired) {
    EXPECT_EQ(must({"cleanup", "--output", "json"}).out, "[]\n");
    add("web", "a", {"--lease", "1s"});
    add("web", "b");
    ASSERT_TRUE(eventually(
        [&] {
            return redis()
                       .must({"EXISTS", "redis_streaming_registry:services:web:instance:a"})
                       .integer == 0;
        },
        3s));
    // Silent for longer than the lease of the prefix, too.
    redis().must({"ZADD", "redis_streaming_registry:services:web:heartbeats", "1000", "a"});
    EXPECT_EQ(must({"cleanup", "--output", "json"}).out,
              R"([{"service":"web","removed":["a"],"error":null}])"
              "\n");
    EXPECT_THAT(ids("web", {"--all"}), ElementsAre("b"));
}

TEST_F(CommandsTest, WaitEndsWhenEnoughInstancesAreThere) {
    auto waiting = start({"wait", "web", "--count", "2", "--timeout", "20s", "--output", "json"});
    add("web", "a");
    EXPECT_TRUE(waiting.running());
    add("web", "b");
    auto const outcome = waiting.wait(5s);
    EXPECT_EQ(outcome.code, 0);
    EXPECT_EQ(outcome.json().as_array().size(), 2u);
}

TEST_F(CommandsTest, WaitTimesOut) {
    add("web", "a");
    auto const outcome =
        run({"wait", "web", "--count", "2", "--timeout", "1500ms", "--output", "json"});
    EXPECT_EQ(outcome.code, 5);
    EXPECT_EQ(outcome.json().as_array().size(), 1u);
    EXPECT_EQ(outcome.err, "rollcall: \"web\" has 1 of 2 instances after 1s500ms\n");
    EXPECT_EQ(run({"wait", "web", "--count", "0"}).code, 2);
}

TEST_F(CommandsTest, WaitAnswersWhatItSawWhenTheEndCutsALookShort) {
    add("web", "a");
    redis().must({"CONFIG", "RESETSTAT"});
    auto waiting = start({"wait", "web", "--count", "2", "--timeout", "800ms"});
    auto const looks_again = [&] {
        return redis().must({"INFO", "commandstats"}).text.find("cmdstat_time:calls=2") !=
               std::string::npos;
    };
    ASSERT_TRUE(eventually(looks_again));
    // Shorter than it takes to give up a silent connection.
    redis().must({"CLIENT", "PAUSE", "3000"});
    EXPECT_EQ(waiting.wait(5s).err, "rollcall: \"web\" has 1 of 2 instances after 800ms\n");
}

TEST_F(CommandsTest, WaitAlsoWaitsForRedis) {
    server().kill();
    auto waiting = start({"wait", "web", "--timeout", "20s"});
    ASSERT_TRUE(eventually([&] { return !waiting.err().empty(); }, 10s));
    server().start();
    add("web", "a");
    EXPECT_EQ(waiting.wait(5s).code, 0);
    server().kill();
    EXPECT_EQ(run({"wait", "web", "--timeout", "300ms"}).code, 4);
}

TEST_F(CommandsTest, HeartbeatReportsEachInstance) {
    add("web", "a");
    add("web", "b");
    auto const key = "redis_streaming_registry:services:web:instance:a";
    redis().must({"PEXPIRE", key, "5000"});
    auto const outcome = run({"heartbeat", "--service", "web", "--id", "a", "--id", "x", "--id",
                              "b", "--output", "json"});
    EXPECT_EQ(outcome.code, 3);
    EXPECT_EQ(outcome.out, R"([{"service":"web","id":"a","result":"alive"},)"
                           R"({"service":"web","id":"x","result":"gone"},)"
                           R"({"service":"web","id":"b","result":"alive"}])"
                           "\n");
    EXPECT_GT(redis().must({"PTTL", key}).integer, 60'000);
    EXPECT_EQ(run({"heartbeat", "--service", "web", "--id", "a"}).code, 0);
    EXPECT_EQ(run({"heartbeat", "--service", "web"}).code, 2);
}

TEST_F(CommandsTest, TellsAnUnreachableRedisFromOtherFailures) {
    add("web", "a");
    redis().must({"ACL", "SETUSER", "nobody", "on", ">pw", "~*", "&*", "-@all", "+ping"});
    auto const url = "unix://nobody:pw@" + server().socket();
    EXPECT_EQ(run({"services", "--url", url}).code, 1);
    EXPECT_EQ(run({"services", "--url", "unix://nobody:wrong@" + server().socket()}).code, 1);
    server().kill();
    auto const outcome = run({"services", "--timeout", "300ms", "--output", "json"});
    EXPECT_EQ(outcome.code, 4);
    EXPECT_EQ(outcome.out, "");
    EXPECT_THAT(outcome.err, HasSubstr("Redis cannot be reached"));
}

TEST_F(CommandsTest, AStoppedRedisTimesOut) {
    server().signal(SIGSTOP);
    auto const outcome = run({"services", "--timeout", "300ms"});
    server().signal(SIGCONT);
    EXPECT_TRUE(outcome.code == 4 || outcome.code == 5) << outcome.code;
}

TEST_F(CommandsTest, NamespacesAreApart) {
    add("web", "a");
    add("web", "b", {"--namespace", "other"});
    EXPECT_THAT(ids("web"), ElementsAre("a"));
    EXPECT_THAT(ids("web", {"--namespace", "other"}), ElementsAre("b"));
    environment()["ROLLCALL_NAMESPACE"] = "other";
    EXPECT_THAT(ids("web"), ElementsAre("b"));
    EXPECT_EQ(run({"services", "--namespace", "a b"}).code, 2);
}

TEST_F(CommandsTest, BadInputNamesFieldValueAndRule) {
    struct Case {
        Arguments arguments;
        std::string message;
    };
    Arguments const base{"register", "--service", "s", "--host", "h", "--port"};
    auto const with_port = [&](std::string const& port, Arguments further = {}) {
        auto arguments = base;
        arguments.push_back(port);
        arguments.insert(arguments.end(), further.begin(), further.end());
        return arguments;
    };
    for (Case const& one : {
             Case{with_port("70000"), "--port \"70000\": must be an integer from 0 to 65535"},
             Case{with_port("1", {"--scheme", "gopher"}), "--scheme \"gopher\": must be one of"},
             Case{with_port("0", {"--scheme", "GRPC"}),
                  "--port \"0\": must be 1 to 65535, for grpc"},
             Case{with_port("1", {"--weight", "x"}), "--weight \"x\": must be an integer"},
             Case{with_port("1", {"--id", " "}), "\" \""},
             Case{with_port("1", {"--metadata", "k=" + std::string(100'000, 'x')}), "metadata"},
             Case{with_port("1", {"--metadata", "k=\xFF"}), R"(metadata value "\xff")"},
             Case{{"register", "--service", "", "--host", "h", "--port", "1"},
                  "--service: must not be empty"},
             Case{{"register", "--service", "  ", "--host", "h", "--port", "1"}, "\"  \""},
             Case{{"services", "--url", "redis://h:99999"}, "99999"},
             Case{{"services", "--url", "http://h"}, "url: scheme: must be redis://"},
             Case{{"services", "--layout", "consul"}, "--layout \"consul\": unknown layout"},
             Case{{"services", "--output", "xml"}, "--output \"xml\": must be table, json or wide"},
             Case{{"services", "--timeout", "0"}, "--timeout \"0\": must be a duration"},
         }) {
        auto const outcome = run(one.arguments);
        EXPECT_EQ(outcome.code, 2) << one.message;
        EXPECT_THAT(outcome.err, HasSubstr(one.message));
        EXPECT_EQ(outcome.out, "");
    }
    EXPECT_EQ(redis().must({"KEYS", "*services*"}).elements.size(), 0u) << "nothing half-written";
}

TEST_F(CommandsTest, MessagesNameTheSourceOfABadValue) {
    auto const file = (home() / "rollcall.toml").string();
    std::ofstream{file} << "url = 'redis://h:x'\nnamespace = 'a b'\n";
    EXPECT_THAT(run({"services", "--url", "redis://h:x"}).err, StartsWith("rollcall: --url: port"));
    EXPECT_THAT(run({"services", "--namespace", "a b"}).err,
                StartsWith("rollcall: --namespace \"a b\": must"));
    EXPECT_THAT(run({"services", "--config", file}).err,
                StartsWith("rollcall: " + file + ":2: namespace \"a b\": must"));
    environment().erase("ROLLCALL_URL");
    EXPECT_THAT(run({"services", "--config", file}).err,
                StartsWith("rollcall: " + file + ":1: url: port"));
    environment()["ROLLCALL_URL"] = "redis://h:x";
    auto const outcome = run({"services"});
    EXPECT_THAT(outcome.err, StartsWith("rollcall: ROLLCALL_URL: port"));
    EXPECT_EQ(outcome.code, 2);
}

}  // namespace
}  // namespace rollcall::test
