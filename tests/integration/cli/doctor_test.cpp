// `rollcall doctor`: what it finds, what it repairs, and what it may not ask.

#include <gmock/gmock.h>

#include "doctor_fixture.hpp"

namespace rollcall::test {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

TEST_F(DoctorTest, FindsNothingWrongWithAFreshRegistry) {
    must({"register", "--service", "web", "--id", "a", "--host", "h", "--port", "1"});
    auto const report = examine();
    EXPECT_EQ(report.code, 0);
    EXPECT_TRUE(report.ok);
    EXPECT_THAT(report.findings, Contains(HasSubstr("ok connection: " + server().url())));
    EXPECT_THAT(report.findings, Contains(HasSubstr("ok version: ")));
    EXPECT_THAT(report.findings, Contains("ok role: master"));
    EXPECT_THAT(report.findings, Contains(HasSubstr("ok clock: ")));
    EXPECT_THAT(report.findings, Contains("ok eviction: noeviction"));
    EXPECT_THAT(report.findings, Contains(HasSubstr("note persistence: ")));
}

TEST_F(DoctorTest, FindsAPolicyThatMayEvict) {
    redis().must({"CONFIG", "SET", "maxmemory-policy", "volatile-lru"});
    auto const report = examine();
    EXPECT_EQ(report.code, 1);
    EXPECT_FALSE(report.ok);
    EXPECT_THAT(report.findings,
                Contains(HasSubstr("warning eviction: maxmemory-policy volatile-lru")));
}

TEST_F(DoctorTest, FindsAReplica) {
    RedisServer master{{"port 0"}};
    redis().must({"REPLICAOF", "127.0.0.1", "1"});
    auto const report = examine();
    EXPECT_EQ(report.code, 1);
    EXPECT_THAT(report.findings, Contains(HasSubstr("problem role: slave: a replica")));
}

TEST_F(DoctorTest, RepairsPhantomsAndStaleMembers) {
    must({"register", "--service", "web", "--id", "a", "--host", "h", "--port", "1"});
    redis().must(
        {"HSET", "redis_streaming_registry:services:web:instance:ghost", "healthy", "false"});
    redis().must({"SADD", "redis_streaming_registry:services", "nobody"});
    redis().must({"ZADD", "redis_streaming_registry:services:web:heartbeats", "1000", "gone"});
    auto const before = examine();
    EXPECT_EQ(before.code, 1);
    EXPECT_THAT(before.findings,
                Contains(HasSubstr("phantom: Hashes that describe no instance (1): web/ghost")));
    EXPECT_THAT(before.findings, Contains(HasSubstr("stale index: ")));
    EXPECT_THAT(before.findings, Contains(HasSubstr("expired: ")));
    auto const during = examine({"--fix"});
    EXPECT_EQ(during.code, 0) << "all of it was repaired";
    EXPECT_THAT(during.findings, Contains(HasSubstr("(repaired)")));
    auto const after = examine();
    EXPECT_EQ(after.code, 0);
    EXPECT_THAT(after.findings,
                Contains(HasSubstr("services (1) and instances (1) are consistent")));
    EXPECT_EQ(count("web"), 1u);
}

TEST_F(DoctorTest, FindsALeaseThatContradicts) {
    must({"register", "--service", "web", "--id", "a", "--host", "h", "--port", "1", "--lease",
          "10m"});
    EXPECT_THAT(examine().findings, Contains(HasSubstr("lease: ")));
    EXPECT_EQ(examine({"--lease", "10m"}).code, 0);
}

// Card BC-07.
TEST_F(DoctorTest, FindsAUserWhoMayNotPublish) {
    redis().must({"ACL", "SETUSER", "prov", "on", ">pw", "~*", "+@all", "resetchannels"});
    environment()["ROLLCALL_URL"] = "unix://prov:pw@" + server().socket();
    auto const report = examine();
    EXPECT_EQ(report.code, 1);
    EXPECT_THAT(report.findings, Contains(HasSubstr("publish")));
}

TEST_F(DoctorTest, FindsThatNoWriteIsPossible) {
    redis().must({"SET", "ballast", std::string(3'000'000, 'x')});
    redis().must({"CONFIG", "SET", "maxmemory", "2mb"});
    auto const report = examine();
    EXPECT_EQ(report.code, 1);
    EXPECT_THAT(report.findings, Contains(HasSubstr("problem write: Redis takes no writes: OOM")));
    EXPECT_THAT(report.findings, Contains(HasSubstr("problem memory: ")));
    redis().must({"CONFIG", "SET", "maxmemory", "100mb"});
    auto const after = examine();
    EXPECT_EQ(after.code, 0);
    EXPECT_THAT(after.findings, Contains(HasSubstr("of 100.0 MiB")));
    EXPECT_THAT(redis().must({"KEYS", "*"}).texts(), testing::ElementsAre("ballast"))
        << "nothing is left behind";
}

TEST_F(DoctorTest, FindsMissingRights) {
    environment()["ROLLCALL_URL"] = "unix://app:pw@" + server().socket();
    auto const with = [this](std::string const& rule) {
        redis().must({"ACL", "SETUSER", "app", "reset", "on", ">pw", "~*", "&*", "+@all", rule});
        redis().must({"SCRIPT", "FLUSH"});
        return examine();
    };
    for (auto const* rule : {"-eval", "-evalsha"}) {
        auto const report = with(rule);
        EXPECT_EQ(report.code, 1) << rule;
        EXPECT_THAT(report.findings, Contains(HasSubstr("problem scripts: "))) << rule;
    }
    auto const report = with("-hset");
    EXPECT_EQ(report.code, 1);
    EXPECT_THAT(report.findings, Contains(HasSubstr("problem rights: ")));
    EXPECT_THAT(report.findings,
                Contains(HasSubstr("HSET redis_streaming_registry:services:any:instance:any")));
    EXPECT_EQ(with("+info").code, 0);
}

TEST_F(DoctorTest, NamesTheKeysOfAnotherType) {
    std::string const prefix = "redis_streaming_registry";
    redis().must({"SADD", prefix + ":rollcall:sweep", "x"});
    redis().must({"SADD", prefix + ":services", "web"});
    redis().must({"SET", prefix + ":services:web:heartbeats", "x"});
    redis().must({"SET", prefix + ":services:web:instance:a", "x"});
    auto const report = examine();
    EXPECT_EQ(report.code, 1);
    for (auto const* key :
         {":rollcall:sweep", ":services:web:heartbeats", ":services:web:instance:a"}) {
        EXPECT_THAT(report.findings,
                    Contains(testing::AllOf(HasSubstr("wrong type: "), HasSubstr(prefix + key))));
    }
}

TEST_F(DoctorTest, SaysWhatItMayNotAsk) {
    redis().must({"ACL", "SETUSER", "app", "on", ">pw", "~*", "&*", "+@all", "-info", "-config"});
    environment()["ROLLCALL_URL"] = "unix://app:pw@" + server().socket();
    auto const report = examine();
    EXPECT_EQ(report.code, 0);
    EXPECT_THAT(report.findings, Contains(HasSubstr("note INFO: ")));
    EXPECT_THAT(report.findings, Contains(HasSubstr("ok clock: ")));
}

TEST_F(DoctorTest, ARedisThatIsAwayIsAFinding) {
    server().kill();
    auto const report = examine({"--timeout", "300ms"});
    EXPECT_EQ(report.code, 4);
    EXPECT_FALSE(report.ok);
    EXPECT_THAT(report.findings, Contains(HasSubstr("problem connection: " + server().url())));
}

TEST_F(DoctorTest, PrintsATableForPeople) {
    auto const outcome = run({"doctor"});
    EXPECT_THAT(outcome.out, HasSubstr("FINDING  TOPIC"));
    EXPECT_THAT(outcome.out, HasSubstr("noeviction"));
    EXPECT_THAT(outcome.out, Not(HasSubstr("{")));
}

}  // namespace
}  // namespace rollcall::test
