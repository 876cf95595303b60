// Users with few rights: those that the contract's page names, and one who may not publish (card
// BC-07).

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <csignal>
#include <gmock/gmock.h>

#include "documented_users.hpp"

namespace rollcall::test {
namespace {

using testing::HasSubstr;

class DocumentedRightsTest : public DocumentedUsersTest {
protected:
    DocumentedRightsTest() : DocumentedUsersTest("redis-contract.md") {}

    Outcome add(std::string const& id) {
        return run({"register", "--service", "web", "--id", id, "--host", "h", "--port", "1",
                    "--metadata", "zone=b", "--output", "json"});
    }
    void expect_reads() {
        for (Arguments const& words : {Arguments{"services"},
                                       {"list", "web"},
                                       {"list", "web", "--all"},
                                       {"list", "web", "--where", "zone==b"},
                                       {"wait", "web"},
                                       {"stat"}}) {
            EXPECT_EQ(must(words).err, "");
        }
        EXPECT_EQ(list("web", {"--where", "zone==b"}).size(), 1u);
    }
};

TEST_F(DocumentedRightsTest, SufficeAReaderForReading) {
    EXPECT_EQ(add("a").code, 0);
    become("reader");
    expect_reads();
    EXPECT_EQ(add("b").code, 1);
    EXPECT_EQ(run({"deregister", "--service", "web", "--id", "a"}).code, 1);
    EXPECT_EQ(count("web"), 1u);
}

TEST_F(DocumentedRightsTest, SufficeAReaderForWatching) {
    expect_watching([&] { return add("c"); });
}

TEST_F(DocumentedRightsTest, SufficeAProviderForAllButTheDoctor) {
    become("provider");
    EXPECT_TRUE(add("a").json().at("announced").as_bool());
    expect_reads();
    for (Arguments words : {Arguments{"heartbeat"},
                            {"disable"},
                            {"enable"},
                            {"weight", "2"},
                            {"metadata", "set", "a=b"},
                            {"metadata", "merge", "c=d"},
                            {"metadata", "clear"},
                            {"register", "--host", "h", "--port", "1"},
                            {"register", "--host", "h", "--port", "1", "--persistent"},
                            {"deregister"}}) {
        words.insert(words.end(), {"--service", "web", "--id", "a"});
        EXPECT_EQ(must(words).err, "");
    }
    EXPECT_EQ(add("b").code, 0);
    redis().must({"ZADD", "redis_streaming_registry:services:web:heartbeats", "1000", "b"});
    EXPECT_THAT(must({"cleanup"}).out, HasSubstr("b"));
    auto serving = start({"serve"});
    EXPECT_TRUE(eventually([this] {
        return redis().must({"EXISTS", "redis_streaming_registry:rollcall:sweep"}).integer == 1;
    }));
    serving.signal(SIGTERM);
    EXPECT_EQ(serving.wait().code, 0);
    EXPECT_THAT(serving.err(), testing::Not(HasSubstr("NOPERM")));
}

TEST_F(DocumentedRightsTest, SufficeAProviderForRunning) {
    become("provider");
    expect_running(std::to_string(free_port()), "redis_streaming_registry:services:web:instance:r",
                   {"--id", "r"});
}

TEST_F(DocumentedRightsTest, SufficeAnOperatorForTheDoctor) {
    become("operator");
    EXPECT_EQ(add("a").code, 0);
    redis().must({"SADD", "redis_streaming_registry:services", "nobody"});
    redis().must(
        {"HSET", "redis_streaming_registry:services:web:instance:ghost", "healthy", "false"});
    auto const outcome = must({"doctor", "--fix"});
    EXPECT_EQ(outcome.err, "");
    EXPECT_THAT(outcome.out, HasSubstr("done: "));
    expect_no_refusal(outcome.out);
}

class RightsTest : public CliTest {
protected:
    RightsTest() {
        redis().must({"ACL", "SETUSER", "prov", "on", ">pw", "~*", "+@all", "resetchannels"});
        environment()["ROLLCALL_URL"] = "unix://prov:pw@" + server().socket();
    }

    /// Runs a command that stores something, which is reported as not announced.
    void expect_unannounced(Arguments words) {
        words.insert(words.end(), {"--service", "web", "--id", "a", "--output", "json"});
        auto const outcome = must(words);
        EXPECT_FALSE(outcome.json().at("announced").as_bool()) << words.front();
        EXPECT_THAT(outcome.err, HasSubstr("redis_streaming_registry:services:web:changes"));
        EXPECT_THAT(outcome.err, HasSubstr("ACL rule &"));
    }

    std::string const key_ = "redis_streaming_registry:services:web:instance:a";
};

TEST_F(RightsTest, WritesAreWholeAndReportedAsNotAnnounced) {
    expect_unannounced({"register", "--host", "h", "--port", "1"});
    EXPECT_GT(redis().must({"PTTL", key_}).integer, 0);
    EXPECT_EQ(redis().must({"SISMEMBER", "redis_streaming_registry:services", "web"}).integer, 1);
    EXPECT_EQ(count("web"), 1u);
    must({"heartbeat", "--service", "web", "--id", "a"});
    expect_unannounced({"metadata", "set", "k=v"});
    EXPECT_EQ(redis().must({"HGET", key_, "metadata"}).text, R"({"k":"v"})");
    EXPECT_GT(redis().must({"PTTL", key_}).integer, 0);
    expect_unannounced({"deregister"});
    EXPECT_EQ(redis().must({"KEYS", "*:services*"}).elements.size(), 0u);
}

TEST_F(RightsTest, AUserWithoutAnyRightIsToldWhichOneIsMissing) {
    redis().must({"ACL", "SETUSER", "reader", "on", ">pw", "~*", "&*", "+@read", "+ping", "+hello",
                  "+client", "+info"});
    environment()["ROLLCALL_URL"] = "unix://reader:pw@" + server().socket();
    auto const outcome =
        run({"register", "--service", "web", "--id", "a", "--host", "h", "--port", "1"});
    EXPECT_EQ(outcome.code, 1);
    EXPECT_THAT(outcome.err, HasSubstr("NOPERM"));
    EXPECT_EQ(redis().must({"KEYS", "*:services*"}).elements.size(), 0u);
}

}  // namespace
}  // namespace rollcall::test
