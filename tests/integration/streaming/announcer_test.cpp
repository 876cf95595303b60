#include "integration/announce/cases.hpp"
#include "integration/announce/drain_cases.hpp"
#include "integration/announce/end_cases.hpp"
#include "integration/announce/line_cases.hpp"
#include "integration/announce/renewal_cases.hpp"
#include "integration/streaming/fixture.hpp"

namespace rollcall::test {
namespace {

LayoutNames streaming_names() {
    LayoutNames names;
    names.name = "Streaming";
    names.layout = [](std::chrono::milliseconds lease) {
        return streaming_layout(std::string{streaming::test::prefix}, lease);
    };
    names.instance = [](int port) {
        auto result = streaming::test::an_instance("orders", "o-" + std::to_string(port));
        result.port = port;
        return result;
    };
    names.hash_key = [](ServiceInstance const& instance) {
        return streaming::test::instance_key(instance.service_name, instance.instance_id);
    };
    names.epoch_key = std::string{streaming::test::prefix} + ":rollcall:epoch";
    names.disables = true;
    names.users = "redis-contract.md";
    return names;
}

auto const name_of = [](auto const& info) { return info.param.name; };
INSTANTIATE_TEST_SUITE_P(In, AnnouncerTest, testing::Values(streaming_names()), name_of);
INSTANTIATE_TEST_SUITE_P(In, DrainTest, testing::Values(streaming_names()), name_of);
INSTANTIATE_TEST_SUITE_P(In, RenewalTest, testing::Values(streaming_names()), name_of);
INSTANTIATE_TEST_SUITE_P(In, StuckLineTest, testing::Values(streaming_names()), name_of);

class StreamingAnnouncerTest : public AnnouncerTest {};
INSTANTIATE_TEST_SUITE_P(In, StreamingAnnouncerTest, testing::Values(streaming_names()), name_of);

TEST_P(StreamingAnnouncerTest, AServiceThatIsListedNoMoreIsRegisteredAgain) {
    auto const by = owner(50ms);
    auto const me = announced(*by, instance());
    auto const other = by->announcer->announce(instance(8081), {});
    ASSERT_TRUE(renewed(me.instance()));
    admin().must({"SREM", streaming::test::index_key(), "orders"});
    EXPECT_TRUE(eventually([&] {
        return admin().must({"SISMEMBER", streaming::test::index_key(), "orders"}).integer == 1;
    }));
    EXPECT_TRUE(events->has("registered", 2));
}

class StreamingRenewalTest : public RenewalTest {};
INSTANTIATE_TEST_SUITE_P(In, StreamingRenewalTest, testing::Values(streaming_names()), name_of);

TEST_P(StreamingRenewalTest, AServiceThatIsListedNoMoreIsToldAndNotRepaired) {
    auto const by = owner(50ms);
    auto const it = registered(*by);
    auto const renewal = renew(*by, it);
    ASSERT_TRUE(told->has("registered"));
    admin().must({"SREM", streaming::test::index_key(), "orders"});
    EXPECT_TRUE(told->has("lost"));
    EXPECT_FALSE(renewal.registered());
    EXPECT_TRUE(renewed(it)) << "it is stored";
    EXPECT_EQ(admin().must({"SISMEMBER", streaming::test::index_key(), "orders"}).integer, 0);
    admin().must({"SADD", streaming::test::index_key(), "orders"});
    EXPECT_TRUE(told->has("registered", 2));
}

TEST_P(StreamingAnnouncerTest, HealthIsAMarkThatSurvivesALoss) {
    auto const by = owner(seldom);
    auto me = announced(*by, instance());
    me.set_healthy(false);
    EXPECT_TRUE(eventually([&] { return field(me.instance(), "healthy") == "false"; }));
    EXPECT_EQ(field(me.instance(), "enabled"), "true");
    admin().must({"FLUSHALL"});
    ASSERT_TRUE(stored_soon(me.instance()));
    EXPECT_EQ(field(me.instance(), "healthy"), "false");
    me.set_healthy(true);
    EXPECT_TRUE(eventually([&] { return field(me.instance(), "healthy") == "true"; }));
}

TEST_P(StreamingAnnouncerTest, DisablingIsAnUpdateAndTheUsersChoiceStays) {
    auto const by = owner(50ms);
    auto me = announced(*by, instance());
    Listener listener{server};
    me.set_enabled(false);
    EXPECT_TRUE(eventually([&] { return field(me.instance(), "enabled") == "false"; }));
    std::vector<streaming::test::Told> told;
    EXPECT_TRUE(eventually([&] {
        for (auto const& each : streaming::test::told(listener.drain())) told.push_back(each);
        return !told.empty();
    }));
    EXPECT_EQ(told.front().action, "UPDATED");
    mark(*by, me.instance(), true);
    EXPECT_TRUE(events->has("drained"));
    mark(*by, me.instance(), false);
    EXPECT_TRUE(events->has("restored"));
    EXPECT_TRUE(renewed(me.instance()));
    EXPECT_EQ(field(me.instance(), "enabled"), "false");
    EXPECT_TRUE(listener.drain().empty()) << "and nobody was told of anything";
}

}  // namespace
}  // namespace rollcall::test
