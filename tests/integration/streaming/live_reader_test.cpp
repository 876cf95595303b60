#include "streaming/live_reader.hpp"

#include <gmock/gmock.h>

#include "integration/streaming/fixture.hpp"
#include "support/sightings.hpp"

namespace rollcall::streaming::test {
namespace {

using rollcall::test::texts_of;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

class StreamingLiveReader : public StreamingTest {
protected:
    std::map<std::string, std::string> look(FeedRead const& read) {
        auto const core = client.core();
        auto const seen = core->run([&] { return reader.look(service, read, core->deadline()); });
        return texts_of(seen.value());
    }

    std::map<std::string, std::string> look(std::vector<std::string> ids, bool descriptions) {
        FeedRead read;
        read.ids = std::move(ids);
        read.descriptions = descriptions;
        return look(read);
    }

    RegistryLuaScriptExecutor scripts{client.core(), RegistryKeys{prefix}, 90s};
    InstanceReader instances{scripts};
    std::string const service = "orders";
    LiveReader reader{scripts, instances};
    std::vector<std::string> const described{"host", "h", "port", "1", "ephemeral", "true"};
};

TEST_F(StreamingLiveReader, TellsApartHowIdsArePresent) {
    store("orders", "alive", 1'000, described);
    store("orders", "silent", 100'000, described);
    store("orders", "hollow", 1'000, {});
    store("orders", "over", 100'000, {});
    store("orders", "phantom", 1'000, {"healthy", "false"});
    store("orders", "broken", 1'000, {"host", "h", "port", "x"});
    redis().must({"HSET", instance_key("orders", "unlisted"), "host", "h", "port", "1"});
    store("orders", "list", 1'000, {});
    redis().must({"RPUSH", instance_key("orders", "list"), "x"});

    FeedRead all;
    all.everything = true;
    all.descriptions = true;
    auto const listed = look(all);
    EXPECT_EQ(listed.at("alive"), "alive described leased");
    EXPECT_EQ(listed.at("silent"), "expired described leased");
    EXPECT_EQ(listed.at("hollow"), "hollow leased");
    EXPECT_EQ(listed.at("over"), "expired leased");
    EXPECT_EQ(listed.at("phantom"), "hollow leased");
    EXPECT_EQ(listed.at("list"), "hollow leased");
    EXPECT_FALSE(listed.contains("unlisted"));

    std::vector<std::string> ids{"absent", "unlisted"};
    for (auto const& [id, presence] : listed) ids.push_back(id);
    auto some = look(ids, true);
    EXPECT_EQ(some.at("absent"), "absent");
    EXPECT_EQ(some.at("unlisted"), "unlisted");
    for (auto const& [id, presence] : listed) EXPECT_EQ(some.at(id), presence) << id;

    some = look({"alive", "silent", "hollow", "unlisted", "absent", "list"}, false);
    EXPECT_THAT(some, ElementsAre(Pair("absent", "absent"), Pair("alive", "alive leased"),
                                  Pair("hollow", "hollow leased"), Pair("list", "hollow leased"),
                                  Pair("silent", "expired leased"), Pair("unlisted", "unlisted")));
    all.descriptions = false;
    EXPECT_EQ(look(all).at("alive"), "alive leased");
    EXPECT_EQ(look(all).at("silent"), "expired leased");
}

TEST_F(StreamingLiveReader, WhatHasExpiredNeedNotBeReadable) {
    store("orders", "broken", 100'000, {"host", "h", "port", "x"});
    FeedRead all;
    all.everything = all.descriptions = true;
    EXPECT_EQ(look(all).at("broken"), "expired leased");
    EXPECT_EQ(look({"broken"}, true).at("broken"), "expired leased");
}

TEST_F(StreamingLiveReader, AnUnknownServiceHasNobody) {
    FeedRead all;
    all.everything = true;
    EXPECT_THAT(look(all), IsEmpty());
    EXPECT_THAT(look({"a"}, true), ElementsAre(Pair("a", "absent")));
}

TEST_F(StreamingLiveReader, ReadsWhatProvidersPublish) {
    auto const channel = reader.channel_of("orders");
    EXPECT_FALSE(channel.pattern);
    RedisServiceProvider provider{client};
    provider.start();
    provider.register_instance(an_instance("orders", "o-1"));
    provider.deregister_instance(an_instance("orders", "o-1"));
    std::vector<std::pair<std::string, News>> news;
    for (auto const& message : listener.drain()) {
        EXPECT_EQ(message.channel, channel.name);
        auto const read = reader.read_message("orders", message.channel, message.payload);
        ASSERT_TRUE(read);
        news.emplace_back(read->id, read->news);
    }
    EXPECT_THAT(news, ElementsAre(Pair("o-1", News::changed), Pair("o-1", News::removed)));
}

TEST_F(StreamingLiveReader, AMessageThatCannotBeReadConcernsTheWholeService) {
    auto const read = reader.read_message("orders", channel_of("orders"), "x");
    ASSERT_TRUE(read);
    EXPECT_EQ(read->id, "");
}

}  // namespace
}  // namespace rollcall::streaming::test
