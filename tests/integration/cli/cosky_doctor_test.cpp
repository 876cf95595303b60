// `rollcall doctor` in the layout of CoSky.

#include <gmock/gmock.h>

#include "doctor_fixture.hpp"

namespace rollcall::test {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

std::string const ns = "cosky-{default}";
std::string const id = "web@http#h#1";
std::string const key = ns + ":svc_itc:" + id;

class CoskyDoctorTest : public DoctorTest {
protected:
    CoskyDoctorTest() { environment()["ROLLCALL_LAYOUT"] = "cosky"; }

    void add(Arguments further = {}) {
        Arguments arguments{"register", "--service", "web", "--host", "h", "--port", "1"};
        arguments.insert(arguments.end(), further.begin(), further.end());
        must(arguments);
    }
    /// What it finds as a user with these rights, who may connect and run scripts.
    Report examine_with(Arguments const& rules) {
        Arguments user{"ACL", "SETUSER", "app", "reset", "on", ">pw", "+@all"};
        user.insert(user.end(), rules.begin(), rules.end());
        redis().must(user);
        environment()["ROLLCALL_URL"] = "unix://app:pw@" + server().socket();
        return examine();
    }
    Report examine_without(std::string const& rule) { return examine_with({"~*", "&*", rule}); }
};

TEST_F(CoskyDoctorTest, FindsNothingWrongWithAFreshRegistry) {
    add({"--metadata", "zone=b"});
    must({"heartbeat", "--service", "web", "--id", id});
    auto const report = examine();
    EXPECT_EQ(report.code, 0);
    EXPECT_THAT(report.findings,
                Contains(HasSubstr("services (1) and instances (1) are consistent")));
    EXPECT_EQ(redis().must({"EXISTS", ns + ":rollcall:sweep"}).integer, 0);
}

TEST_F(CoskyDoctorTest, FindsMissingRights) {
    for (auto const* rule : {"-eval", "-evalsha"}) {
        redis().must({"SCRIPT", "FLUSH"});
        auto const report = examine_without(rule);
        EXPECT_EQ(report.code, 1) << rule;
        EXPECT_THAT(report.findings, Contains(HasSubstr("problem scripts: "))) << rule;
    }
    for (auto const* name : {"HSET", "EXPIRE", "PERSIST", "HMGET", "HDEL", "TTL", "DEL"}) {
        auto const report = examine_without("-" + std::string{name});
        EXPECT_EQ(report.code, 1) << name;
        EXPECT_THAT(report.findings, Contains(AllOf(HasSubstr("problem rights: "),
                                                    HasSubstr(std::string{name} + " " + ns))));
    }
    EXPECT_THAT(examine_without("-time").findings,
                Contains(AllOf(HasSubstr("problem rights: "), HasSubstr("TIME"))));
    EXPECT_EQ(examine_without("-info").code, 0);
}

TEST_F(CoskyDoctorTest, FindsThatTheNamespaceItselfIsNoKeyOfTheUser) {
    auto const report = examine_with({"&*", "~" + ns + ":*"});
    EXPECT_EQ(report.code, 1);
    EXPECT_THAT(report.findings,
                Contains(AllOf(HasSubstr("problem rights: "), HasSubstr("EVALSHA " + ns))));
    EXPECT_EQ(examine_with({"&*", "~" + ns + ":*", "~" + ns}).code, 0);
}

// Card BC-07.
TEST_F(CoskyDoctorTest, FindsAUserWhoMayNotPublish) {
    EXPECT_THAT(examine_with({"~*"}).findings,
                Contains(AllOf(HasSubstr("problem publish: "), HasSubstr("&" + ns + ":svc_idx"),
                               HasSubstr("&" + ns + ":svc_itc:*"))));
    EXPECT_THAT(examine_with({"~*", "&" + ns + ":svc_idx"}).findings,
                Contains(AllOf(HasSubstr("problem publish: "), Not(HasSubstr("svc_idx")),
                               HasSubstr("&" + ns + ":svc_itc:*"))));
    EXPECT_EQ(examine_with({"~*", "&" + ns + ":svc_idx", "&" + ns + ":svc_itc:*"}).code, 0);
}

TEST_F(CoskyDoctorTest, FindsThatNoWriteIsPossible) {
    redis().must({"CONFIG", "SET", "min-replicas-to-write", "1"});
    auto const report = examine();
    EXPECT_EQ(report.code, 1);
    EXPECT_THAT(report.findings,
                Contains(HasSubstr("problem write: Redis takes no writes: NOREPLICAS")));
}

TEST_F(CoskyDoctorTest, FindsALongerLease) {
    add({"--lease", "10m"});
    auto const longer = AllOf(HasSubstr("warning lease: "), HasSubstr(id + " (600 s)"));
    EXPECT_THAT(examine().findings, Contains(longer));
    EXPECT_EQ(examine({"--lease", "10m"}).code, 0);
    must({"heartbeat", "--service", "web", "--id", id});
    EXPECT_LE(redis().must({"TTL", key}).integer, 60);
    redis().must({"HSET", key, "__last_renew_pub_ttl_at", "99999999999999999999"});
    EXPECT_THAT(examine().findings, Not(Contains(HasSubstr("lease: "))));
    auto const now = std::stoll(redis().must({"TIME"}).elements.at(0).text);
    redis().must({"HSET", key, "__last_renew_pub_ttl_at", std::to_string(now + 600)});
    EXPECT_THAT(examine().findings, Contains(HasSubstr("warning lease: ")))
        << "its readers believe in it";
}

TEST_F(CoskyDoctorTest, NamesTheKeysOfAnotherType) {
    Arguments const keys{ns + ":rollcall:sweep", ns + ":svc_stat", ns + ":svc_itc_idx:web",
                         ns + ":svc_itc:a@http#h#1", ns + ":topology:shop"};
    for (auto const& one : keys) redis().must({"SADD", one, "x"});
    redis().must({"DEL", ns + ":svc_itc_idx:web"});
    redis().must({"SET", ns + ":svc_itc_idx:web", "x"});
    redis().must({"HSET", ns + ":topology_idx", "shop", "5", "gateway", "5"});
    auto const report = examine();
    EXPECT_EQ(report.code, 1);
    for (auto const& one : keys) {
        EXPECT_THAT(report.findings, Contains(AllOf(HasSubstr("wrong type: "), HasSubstr(one))));
    }
}

TEST_F(CoskyDoctorTest, FindsHashesThatContradictTheirPlace) {
    add();
    redis().must({"COPY", key, ns + ":svc_itc:other"});
    redis().must({"SADD", ns + ":svc_itc_idx:web", "other"});
    redis().must({"SADD", ns + ":svc_itc_idx:shop", id});
    redis().must({"SADD", ns + ":svc_idx", "shop"});
    auto const report = examine();
    EXPECT_EQ(report.code, 1);
    EXPECT_THAT(report.findings, Contains(AllOf(HasSubstr("problem mismatch: "),
                                                HasSubstr("(1): " + ns + ":svc_itc:other"))));
    EXPECT_THAT(report.findings, Contains(AllOf(HasSubstr("warning mismatch: "),
                                                HasSubstr("(1): " + id + " of web in shop"))));
    auto const listed = list("web");
    ASSERT_EQ(listed.size(), 1u) << "no id twice";
    EXPECT_EQ(listed.at(0).at("id").as_string(), id);
}

TEST_F(CoskyDoctorTest, ProposesHashTagsThatAreNotEmpty) {
    for (auto const& [given, proposed] : {std::pair{"dev", "{dev}"},
                                          {"}{", "{default}"},
                                          {"}x{", "{x}"},
                                          {"{}", "{{}}"},
                                          {"a{}b", "{a{}b}"}}) {
        EXPECT_THAT(examine({"--namespace", given}).findings,
                    Contains(HasSubstr("hash tag such as " + std::string{proposed} + ":")));
    }
}

}  // namespace
}  // namespace rollcall::test
