#include "registry/live/heard_messages.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rollcall::live {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

FeedRead read_of(std::vector<std::string> ids) {
    FeedRead read;
    read.descriptions = true;
    read.ids = std::move(ids);
    return read;
}

FeedRead whole_read() {
    FeedRead read;
    read.everything = true;
    read.descriptions = true;
    return read;
}

class Heard : public testing::Test {
protected:
    void add(std::string id, std::size_t bytes = 10) {
        heard.add({std::move(id), std::make_shared<int const>()}, bytes);
    }
    std::vector<std::string> end(bool complete = true) {
        std::vector<std::string> ids;
        for (auto const& message : heard.end(complete)) ids.push_back(message.id);
        return ids;
    }

    HeardMessages heard;
};

TEST_F(Heard, AreAnsweredByAReadOfTheirInstancesInOrder) {
    for (auto const* id : {"b", "a", "b", "c"}) add(id);
    heard.ask(read_of({"a", "b"}));
    EXPECT_THAT(end(), ElementsAre("b", "a", "b"));
    heard.ask(whole_read());
    EXPECT_THAT(end(), ElementsAre("c"));
    EXPECT_THAT(end(), IsEmpty());
}

TEST_F(Heard, AreNotAnsweredByAReadOfBefore) {
    heard.ask(whole_read());
    add("a");
    EXPECT_THAT(end(), IsEmpty());
    heard.ask(whole_read());
    EXPECT_THAT(end(), ElementsAre("a"));
}

TEST_F(Heard, AreNotAnsweredByAReadThatFailedOrOfLeases) {
    add("a");
    heard.ask(whole_read());
    EXPECT_THAT(end(false), IsEmpty());
    FeedRead leases;
    leases.everything = true;
    heard.ask(leases);
    EXPECT_THAT(end(), IsEmpty());
    heard.ask(read_of({"a"}));
    EXPECT_THAT(end(), ElementsAre("a"));
}

TEST_F(Heard, AreBoundedInNumberAndSize) {
    for (std::size_t i = 0; i < HeardMessages::most + 1; ++i) add("a");
    heard.ask(whole_read());
    EXPECT_EQ(end().size(), HeardMessages::most);
    add("large", HeardMessages::most_bytes - 5);
    add("left out");
    add("small", 5);
    heard.ask(whole_read());
    EXPECT_THAT(end(), ElementsAre("large", "small"));
    add("again", HeardMessages::most_bytes);
    heard.ask(whole_read());
    EXPECT_THAT(end(), ElementsAre("again"));
}

}  // namespace
}  // namespace rollcall::live
