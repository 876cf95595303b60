#include "cosky/live_reader.hpp"

#include <gmock/gmock.h>

#include "integration/cosky/fixture.hpp"
#include "support/sightings.hpp"

namespace rollcall::cosky::test {
namespace {

using rollcall::test::texts_of;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

class CoskyLiveReader : public CoskyTest {
protected:
    static std::string key(std::string const& id) {
        return DiscoveryKeyGenerator::instance_key(ns, id);
    }
    void list(std::string const& id) {
        redis().must({"SADD", DiscoveryKeyGenerator::instance_idx_key(ns, "order"), id});
    }

    std::map<std::string, std::string> look(FeedRead const& read) {
        auto const core = client.core();
        auto const seen = core->run([&] { return reader.look(service, read, core->deadline()); });
        return texts_of(seen.value());
    }

    Task<Result<bool>> clean(std::vector<std::string> const& ids) {
        co_await reader.clean_up(service, ids, client.core()->deadline());
        co_return true;
    }

    DiscoveryRedisScripts scripts{client.core()};
    std::string const service = "order";
    LiveReader reader{scripts, ns, 60s};
    RedisServiceRegistry registry{client};
};

TEST_F(CoskyLiveReader, TellsApartHowIdsArePresent) {
    auto const alive = id_of("order", 1);
    auto const fixed = id_of("order", 2);
    registry.register_instance(ns, an_instance("order", 1));
    auto persistent = an_instance("order", 2);
    persistent.ephemeral = false;
    registry.register_instance(ns, persistent);
    list("hollow");
    list("headless");
    redis().must({"HSET", key("headless"), "__last_renew_pub_ttl_at", "5"});
    list("text");
    redis().must({"SET", key("text"), "x"});
    list("other");
    redis().must({"COPY", key(alive), key("other")});
    redis().must({"HSET", key("unlisted"), "serviceId", "order"});

    FeedRead all;
    all.everything = true;
    all.descriptions = true;
    auto const listed = look(all);
    EXPECT_THAT(listed, testing::UnorderedElementsAre(
                            Pair(alive, "alive described leased"), Pair(fixed, "alive described"),
                            Pair("hollow", "hollow"), Pair("headless", "unreadable"),
                            Pair("text", "unreadable"), Pair("other", "unreadable leased")));

    FeedRead some;
    some.descriptions = true;
    some.ids = {"absent", "unlisted"};
    for (auto const& [id, presence] : listed) some.ids.push_back(id);
    auto seen = look(some);
    EXPECT_EQ(seen.at("absent"), "absent");
    EXPECT_EQ(seen.at("unlisted"), "unlisted");
    for (auto const& [id, presence] : listed) EXPECT_EQ(seen.at(id), presence) << id;

    some.descriptions = false;
    seen = look(some);
    EXPECT_EQ(seen.at(alive), "alive leased");
    EXPECT_EQ(seen.at("hollow"), "hollow");
    all.descriptions = false;
    EXPECT_EQ(look(all).at(alive), "alive leased");
    EXPECT_EQ(look(all).at("hollow"), "hollow");
}

TEST_F(CoskyLiveReader, AnUnknownServiceHasNobody) {
    FeedRead all;
    all.everything = true;
    EXPECT_THAT(look(all), IsEmpty());
}

TEST_F(CoskyLiveReader, ReadsWhatRegistriesPublish) {
    auto const id = id_of("order");
    auto const channel = reader.channel_of("order");
    EXPECT_TRUE(channel.pattern);
    EXPECT_EQ(channel.name, "cosky-{default}:svc_itc:order@*");
    registry.register_instance(ns, an_instance("order"));
    registry.set_metadata(ns, "order", id, "a", "b");
    registry.deregister(ns, "order", id);
    std::vector<std::pair<std::string, News>> news;
    for (auto const& message : listener.drain()) {
        auto const read = reader.read_message("order", message.channel, message.payload);
        if (read) news.emplace_back(read->id, read->news);
    }
    EXPECT_THAT(news, ElementsAre(Pair(id, News::changed), Pair(id, News::changed),
                                  Pair(id, News::deregistered)));
}

TEST_F(CoskyLiveReader, LeavesMessagesAboutOthersAlone) {
    auto const message = [&](std::string const& channel, std::string_view payload) {
        return reader.read_message("order", channel, payload);
    };
    EXPECT_FALSE(message(key(id_of("order@b")), "register"));
    EXPECT_FALSE(message("other:svc_itc:" + id_of("order"), "register"));
    EXPECT_EQ(message(key(id_of("order")), "Renew")->news, News::renewed);
    EXPECT_TRUE(message(key(id_of("order")), "renew")->readable);
    EXPECT_EQ(message(key(id_of("order")), "gossip")->news, News::changed) << "read again";
    EXPECT_FALSE(message(key(id_of("order")), "gossip")->readable);
    EXPECT_EQ(reader.channel_of("x[1]*").name, "cosky-{default}:svc_itc:x\\[1\\]\\*@*");
}

TEST_F(CoskyLiveReader, CleansUpAsReadersOfTheLayoutDo) {
    list("order@http#h#1");
    heard();
    std::vector<std::string> const gone{"order@http#h#1"};
    EXPECT_TRUE(client.core()->run([&] { return clean(gone); }).has_value());
    EXPECT_THAT(heard(), ElementsAre("svc_itc:order@http#h#1 ← expired"));
}

}  // namespace
}  // namespace rollcall::cosky::test
