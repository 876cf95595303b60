// Users with few rights in the layout of CoSky: those that its page names.

#include <csignal>
#include <gmock/gmock.h>

#include "documented_users.hpp"

namespace rollcall::test {
namespace {

using testing::HasSubstr;

std::string const ns = "cosky-{default}";
std::string const id = "web@http#10.0.0.1#80";

class DocumentedCoskyRights : public DocumentedUsersTest {
protected:
    DocumentedCoskyRights() : DocumentedUsersTest("cosky-fleets.md") {
        environment()["ROLLCALL_LAYOUT"] = "cosky";
    }

    Outcome add(std::string const& port) {
        return run({"register", "--service", "web", "--host", "10.0.0.1", "--port", port,
                    "--metadata", "zone=b", "--output", "json"});
    }
    void expire(std::string const& what) { redis().must({"DEL", ns + ":svc_itc:" + what}); }
    void expect_reads() {
        for (Arguments const& words : {Arguments{"services"},
                                       {"list", "web"},
                                       {"list", "web", "--where", "zone==b"},
                                       {"wait", "web"},
                                       {"stat"},
                                       {"namespaces"},
                                       {"topology"}}) {
            EXPECT_EQ(must(words).err, "") << words.front();
        }
    }
};

TEST_F(DocumentedCoskyRights, SufficeAReaderForReading) {
    EXPECT_EQ(add("80").code, 0);
    EXPECT_EQ(add("81").code, 0);
    expire("web@http#10.0.0.1#81");
    become("reader");
    expect_reads();
    EXPECT_EQ(add("82").code, 1);
    EXPECT_EQ(run({"deregister", "--service", "web", "--id", id}).code, 1);
    EXPECT_EQ(count("web"), 1u);
}

TEST_F(DocumentedCoskyRights, SufficeAReaderForWatching) {
    redis().must({"ACL", "SETUSER", "reader", "&" + ns + ":svc_itc:web@*"});
    expect_watching([&] { return add("83"); });
}

TEST_F(DocumentedCoskyRights, SufficeAProviderForAllButTheDoctor) {
    become("provider");
    EXPECT_TRUE(add("80").json().at("announced").as_bool());
    expect_reads();
    for (Arguments words : {Arguments{"heartbeat"},
                            {"weight", "2"},
                            {"metadata", "set", "a=b"},
                            {"metadata", "merge", "c=d"},
                            {"metadata", "clear"},
                            {"deregister"}}) {
        words.insert(words.end(), {"--service", "web", "--id", id});
        EXPECT_EQ(must(words).err, "") << words.front();
    }
    EXPECT_EQ(add("81").code, 0);
    expire("web@http#10.0.0.1#81");
    EXPECT_THAT(must({"cleanup"}).out, HasSubstr("web@http#10.0.0.1#81"));
    auto serving = start({"serve"});
    EXPECT_TRUE(eventually(
        [this] { return redis().must({"EXISTS", ns + ":rollcall:sweep"}).integer == 1; }));
    serving.signal(SIGTERM);
    EXPECT_EQ(serving.wait().code, 0);
    expect_no_refusal(serving.err());
}

TEST_F(DocumentedCoskyRights, SufficeAProviderForRunning) {
    become("provider");
    auto const port = std::to_string(free_port());
    expect_running(port, ns + ":svc_itc:web@http#10.0.0.1#" + port);
}

TEST_F(DocumentedCoskyRights, SufficeAnOperatorForTheDoctor) {
    become("operator");
    EXPECT_EQ(add("80").code, 0);
    EXPECT_EQ(add("81").code, 0);
    expire("web@http#10.0.0.1#81");
    auto const outcome = must({"doctor", "--fix"});
    EXPECT_EQ(outcome.err, "");
    EXPECT_THAT(outcome.out, HasSubstr("done: "));
    expect_no_refusal(outcome.out);
}

}  // namespace
}  // namespace rollcall::test
