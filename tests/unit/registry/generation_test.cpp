#include "registry/generation.hpp"

#include <gtest/gtest.h>
#include <string>

namespace rollcall {
namespace {

constexpr std::string_view info =
    "# Server\r\nrun_id:9f5e64e33a7f1a6d2c1b0f0c8f5c5a3b9d1e7c42\r\n\r\n"
    "# Replication\r\nmaster_replid:8371445ba7e4ea5d3d1c4ca2b14d7e6b7fca1b0a\r\n";

void put(redis::Response& response, boost::redis::resp3::type type, std::string_view text) {
    response.begin_reply();
    response.add({type, 1, 0, text});
    response.end_reply();
}

using Type = boost::redis::resp3::type;

struct Answers {
    std::string client_id = "7";
    std::string server = std::string{info};
    std::string replication = std::string{info};
    std::string epoch = "e1";
    Type info_type = Type::blob_string;
    Type epoch_type = Type::blob_string;
    std::uint64_t connection = 3;

    Result<GenerationRead> read() const {
        redis::Response response;
        put(response, Type::number, client_id);
        put(response, info_type, server);
        put(response, info_type, replication);
        put(response, epoch_type, epoch);
        response.note_connection(connection);
        return generation_of(response);
    }
    Generation generation() const { return read().value().generation.value(); }
};

TEST(GenerationOf, IsOfProcessHistoryAndEpoch) {
    Answers const before;
    Generation const expected{"9f5e64e33a7f1a6d2c1b0f0c8f5c5a3b9d1e7c42",
                              "8371445ba7e4ea5d3d1c4ca2b14d7e6b7fca1b0a", "e1"};
    EXPECT_EQ(before.generation(), expected);

    auto other = before;
    other.client_id = "8";
    other.connection = 4;
    EXPECT_EQ(other.generation(), expected) << "a connection is no generation";
    EXPECT_FALSE(other.read().value().same_connection(before.read().value()));
    EXPECT_TRUE(before.read().value().same_connection(before.read().value()));

    other = before;
    other.epoch = "e2";
    EXPECT_NE(other.generation(), expected);
    other = before;
    other.server = "run_id:1\r\n";
    EXPECT_NE(other.generation(), expected);
    other = before;
    other.replication = "master_replid:1\r\n";
    EXPECT_NE(other.generation(), expected);
}

TEST(GenerationOf, NoEpochNoGeneration) {
    Answers answers;
    answers.epoch_type = Type::null;
    answers.epoch = "";
    EXPECT_FALSE(answers.read().value().generation);
    EXPECT_EQ(answers.read().value().client_id, 7);
    answers.epoch_type = Type::simple_error;
    for (auto const* text : {"NOPERM no", "WRONGTYPE no"}) {
        answers.epoch = text;
        EXPECT_FALSE(answers.read().value().generation) << text;
    }
    answers.epoch = "LOADING data";
    EXPECT_EQ(answers.read().error().code(), errc::unavailable);
    answers.epoch_type = Type::blob_string;
    answers.epoch = std::string(longest_epoch + 1, 'x');
    EXPECT_FALSE(answers.read().value().generation);
}

TEST(GenerationOf, WithoutInfoTheConnectionStandsIn) {
    Answers first;
    first.info_type = Type::simple_error;
    first.server = first.replication = "NOPERM no";
    auto second = first;
    EXPECT_EQ(first.generation(), second.generation());
    second.connection = 4;
    EXPECT_NE(first.generation(), second.generation()) << "CLIENT ID begins anew with Redis";
    second = first;
    second.client_id = "8";
    EXPECT_NE(first.generation(), second.generation());
    second.connection = 0;
    EXPECT_FALSE(second.read().value().generation);

    Answers garbage;
    for (auto const& text : {std::string{"garbage"}, std::string{"run_id:a b"},
                             std::string{"run_id:"}, "run_id:" + std::string(1'000, 'a')}) {
        garbage.server = text;
        EXPECT_EQ(garbage.generation(), first.generation()) << text;
    }
}

TEST(GenerationRead, NothingIsKnownOfNoConnection) {
    GenerationRead const none;
    EXPECT_FALSE(none.same_connection(none));
    EXPECT_FALSE(generation_of(redis::Response{}).value().generation);
}

}  // namespace
}  // namespace rollcall
