#include <algorithm>
#include <gtest/gtest.h>

#include "integration/streaming/fixture.hpp"
#include "streaming/streaming_port.hpp"

namespace rollcall::streaming::test {
namespace {

class Examination : public StreamingTest {
protected:
    std::vector<Finding> examine(bool fix = false) {
        auto found =
            client.core()->run([&] { return port->examine(fix, after(std::chrono::seconds{5})); });
        EXPECT_TRUE(found) << found.error().detail();
        return found ? *found : std::vector<Finding>{};
    }

    /// The finding with this topic, which is to be there.
    static Finding about(std::vector<Finding> const& findings, std::string_view topic) {
        auto const at = std::find_if(findings.begin(), findings.end(),
                                     [&](auto const& finding) { return finding.topic == topic; });
        if (at != findings.end()) return *at;
        ADD_FAILURE() << "nothing about " << topic;
        return {};
    }

    void member(std::string const& service, std::string const& id, long long age) {
        redis().must({"SADD", index_key(), service});
        redis().must({"ZADD", heartbeats_key(service), std::to_string(redis_now() - age), id});
    }
    void hash(std::string const& service, std::string const& id,
              std::vector<std::string> const& fields = {"host", "h", "port", "1"},
              std::string const& ttl = "90") {
        std::vector<std::string> command{"HSET", instance_key(service, id)};
        command.insert(command.end(), fields.begin(), fields.end());
        redis().must(command);
        if (!ttl.empty()) redis().must({"EXPIRE", instance_key(service, id), ttl});
    }

    std::unique_ptr<LayoutPort> port = make_streaming_port(client.core(), {});
};

TEST_F(Examination, ARegistryInOrderIsInOrder) {
    for (int i = 0; i < 300; ++i) {
        member("orders", "i" + std::to_string(i), 0);
        hash("orders", "i" + std::to_string(i));
    }
    RedisServiceProvider provider{client};
    provider.start();
    auto persistent = an_instance("web", "p");
    persistent.ephemeral = false;
    provider.register_instance(persistent);
    redis().must({"SET", std::string{prefix} + ":rollcall:sweep", "token"});
    redis().must({"SET", std::string{prefix} + "x:services:other:heartbeats", "not ours"});
    auto const findings = examine();
    ASSERT_EQ(findings.size(), 1u) << findings[1].text;
    EXPECT_EQ(findings[0].severity, Finding::Severity::ok);
    EXPECT_NE(findings[0].text.find("services (2) and instances (301) are consistent"),
              std::string::npos)
        << findings[0].text;
}

TEST_F(Examination, AnEmptyRegistryIsInOrder) {
    auto const findings = examine(true);
    ASSERT_EQ(findings.size(), 1u);
    EXPECT_EQ(findings[0].severity, Finding::Severity::ok);
}

TEST_F(Examination, PhantomsAreFoundAndRemoved) {
    member("orders", "ph", 0);
    hash("orders", "ph", {"healthy", "false"}, "");
    member("orders", "good", 0);
    hash("orders", "good");
    hash("nowhere", "ph", {"metrics", "{}"}, "");
    auto const finding = about(examine(), "phantom");
    EXPECT_NE(finding.text.find("orders/ph"), std::string::npos) << finding.text;
    EXPECT_NE(finding.text.find("nowhere/ph"), std::string::npos) << finding.text;
    EXPECT_FALSE(finding.repair.empty());
    EXPECT_FALSE(finding.repaired);
    EXPECT_EQ(redis().must({"EXISTS", instance_key("orders", "ph")}).integer, 1) << "not asked to";
    EXPECT_TRUE(about(examine(true), "phantom").repaired);
    EXPECT_EQ(redis().must({"EXISTS", instance_key("orders", "ph")}).integer, 0);
    EXPECT_EQ(redis().must({"EXISTS", instance_key("nowhere", "ph")}).integer, 0);
    EXPECT_EQ(redis().must({"ZRANGE", heartbeats_key("orders"), "0", "-1"}).texts(),
              std::vector<std::string>{"good"});
    EXPECT_EQ(examine().front().severity, Finding::Severity::ok);
}

TEST_F(Examination, MembersWithoutHash) {
    member("orders", "late", 100'000);
    member("orders", "young", 0);
    auto const findings = examine(true);
    EXPECT_TRUE(about(findings, "expired").repaired);
    auto const bare = about(findings, "no hash");
    EXPECT_TRUE(bare.repair.empty());
    EXPECT_FALSE(bare.repaired);
    EXPECT_EQ(heard(), (std::vector<Told>{{"REMOVED", "orders", "late", false}}));
    EXPECT_EQ(redis().must({"ZRANGE", heartbeats_key("orders"), "0", "-1"}).texts(),
              std::vector<std::string>{"young"});
}

TEST_F(Examination, OrphansAreReportedAndLeft) {
    hash("orders", "lone");
    auto const finding = about(examine(true), "orphan");
    EXPECT_NE(finding.text.find("orders/lone"), std::string::npos) << finding.text;
    EXPECT_TRUE(finding.repair.empty());
    EXPECT_EQ(redis().must({"EXISTS", instance_key("orders", "lone")}).integer, 1);
}

TEST_F(Examination, TheIndexIsMadeToFit) {
    redis().must({"SADD", index_key(), "stale"});
    member("orders", "a", 0);
    hash("orders", "a");
    redis().must({"SREM", index_key(), "orders"});
    auto const findings = examine(true);
    EXPECT_TRUE(about(findings, "stale index").repaired);
    EXPECT_TRUE(about(findings, "index").repaired);
    EXPECT_EQ(redis().must({"SMEMBERS", index_key()}).texts(), std::vector<std::string>{"orders"});
}

TEST_F(Examination, LivesThatContradictTheLease) {
    member("orders", "endless", 0);
    hash("orders", "endless", {"host", "h", "port", "1"}, "");
    member("orders", "short", 10'000);
    hash("orders", "short", {"host", "h", "port", "1"}, "20");
    member("orders", "right", 40'000);
    hash("orders", "right", {"host", "h", "port", "1"}, "50");
    member("orders", "persistent", 0);
    hash("orders", "persistent", {"host", "h", "port", "1", "ephemeral", "false"}, "");
    auto const findings = examine();
    EXPECT_NE(about(findings, "no TTL").text.find("by themselves (1): "), std::string::npos);
    auto const lease = about(findings, "lease");
    EXPECT_NE(lease.text.find("orders/short (30 s)"), std::string::npos) << lease.text;
    EXPECT_EQ(lease.text.find("right"), std::string::npos) << lease.text;
    EXPECT_EQ(findings.size(), 2u);
}

TEST_F(Examination, KeysOfAnotherTypeAndOddHashes) {
    redis().must({"SET", instance_key("orders", "text"), "x"});
    redis().must({"SET", heartbeats_key("web"), "x"});
    member("orders", "odd", 0);
    hash("orders", "odd", {"host", "h", "port", "x"});
    auto const findings = examine(true);
    auto const types = about(findings, "wrong type");
    EXPECT_EQ(types.severity, Finding::Severity::problem);
    EXPECT_NE(types.text.find(instance_key("orders", "text")), std::string::npos) << types.text;
    EXPECT_NE(types.text.find(heartbeats_key("web")), std::string::npos) << types.text;
    EXPECT_EQ(about(findings, "undecodable").severity, Finding::Severity::problem);
    EXPECT_EQ(redis().must({"GET", heartbeats_key("web")}).text, "x") << "nothing foreign is lost";

    redis().must({"DEL", index_key()});
    redis().must({"SET", index_key(), "x"});
    EXPECT_NE(about(examine(), "wrong type").text.find(index_key()), std::string::npos);
}

TEST_F(Examination, ManyExamplesAreCutShort) {
    for (int i = 0; i < 20; ++i) hash("orders", "lone" + std::to_string(i));
    auto const finding = about(examine(), "orphan");
    EXPECT_TRUE(finding.text.find("(20): ") != std::string::npos) << finding.text;
    EXPECT_TRUE(finding.text.ends_with("…")) << finding.text;
    EXPECT_EQ(std::count(finding.text.begin(), finding.text.end(), '/'), 5);
}

TEST_F(Examination, APrefixIsNoPattern) {
    StreamingPortOptions given;
    given.prefix = "a*[b]";
    auto const odd = make_streaming_port(client.core(), given);
    redis().must({"HSET", "a*[b]:services:s:instance:i", "host", "h", "port", "1"});
    redis().must({"HSET", "axb:services:s:instance:i", "host", "h", "port", "1"});
    auto const found =
        client.core()->run([&] { return odd->examine(false, after(std::chrono::seconds{5})); });
    ASSERT_TRUE(found);
    EXPECT_TRUE(about(*found, "orphan").text.find("(1): ") != std::string::npos);
}

TEST_F(Examination, WithoutTheRightToSearchItSaysSo) {
    redis().must({"ACL", "SETUSER", "noscan", "on", ">pw", "~*", "&*", "+@all", "-scan"});
    auto poor_options = options();
    poor_options.url = "unix://noscan:pw@" + server().socket();
    Client poor{poor_options};
    auto const by = make_streaming_port(poor.core(), {});
    auto const found =
        poor.core()->run([&] { return by->examine(false, after(std::chrono::seconds{5})); });
    ASSERT_TRUE(found);
    EXPECT_EQ(found->back().severity, Finding::Severity::note);
    EXPECT_NE(found->back().text.find("could not be searched"), std::string::npos);
    redis().must({"ACL", "DELUSER", "noscan"});
}

}  // namespace
}  // namespace rollcall::streaming::test
