// Card BC-07: a user who may write keys, but not publish.

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <gmock/gmock.h>

#include "program.hpp"

namespace rollcall::test {
namespace {

using testing::HasSubstr;

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
