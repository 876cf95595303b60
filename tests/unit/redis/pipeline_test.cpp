#include "redis/pipeline.hpp"

#include <deque>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace rollcall::redis {
namespace {

using namespace std::chrono_literals;

Deadline const start{std::chrono::hours{1'000}};

/// A pipeline on a connection whose every event the test decides.
class PipelineTest : public testing::Test, protected Pipeline::Host {
protected:
    struct Call {
        Call(std::string_view command, Deadline deadline, bool idempotent)
            : operation(request, response, deadline, idempotent) {
            if (!command.empty()) request.push(command);
        }
        Request request;
        Response response;
        Operation operation;
        bool resumed = false;
    };

    Call& submit(std::string_view command, std::chrono::milliseconds limit = 1s,
                 bool idempotent = true, std::string_view second = {}) {
        auto& call = calls_.emplace_back(command, start + limit, idempotent);
        if (!second.empty()) call.request.push(second);
        call.operation.resume = [&call] { call.resumed = true; };
        pipeline.submit(call.operation);
        return call;
    }

    void run_turns() {
        for (int i = 0; i < 10 && turn_wanted; ++i) {
            turn_wanted = false;
            pipeline.turn();
        }
        ASSERT_FALSE(turn_wanted) << "it never comes to rest";
    }

    void answer(Flight& flight, std::string_view text) {
        using Event = Flight::Event;
        pipeline.receive(flight, Event::init, {});
        pipeline.receive(flight, Event::node,
                         {boost::redis::resp3::type::simple_string, 1, 0, text});
        pipeline.receive(flight, Event::done, {});
    }

    static std::string payload(std::vector<std::string_view> const& commands) {
        Request request;
        for (auto const command : commands) request.push(command);
        return std::string{request.wire().payload()};
    }

    void send(Flight& flight) override { sent.push_back(&flight); }
    void schedule_turn() override { turn_wanted = true; }
    void expect(Deadline moment) override { expected = moment; }
    std::string why_not_connected() const override { return "refused"; }

    std::vector<Flight*> sent;
    bool turn_wanted = false;
    Deadline expected{};
    Pipeline pipeline{*this, 3, start};

private:
    std::deque<Call> calls_;
};

TEST_F(PipelineTest, JoinsWhatArrivesInOneTurn) {
    pipeline.open();
    run_turns();
    auto& a = submit("A");
    auto& b = submit("B");
    run_turns();
    ASSERT_EQ(sent.size(), 1u);
    EXPECT_EQ(sent[0]->wire().payload(), payload({"A", "B"}));

    answer(*sent[0], "a");
    run_turns();
    EXPECT_TRUE(a.resumed);
    EXPECT_FALSE(b.resumed);
    EXPECT_EQ(a.response[0].text(), "a");

    answer(*sent[0], "b");
    pipeline.landed(*sent[0], false);
    run_turns();
    EXPECT_TRUE(b.resumed);
    EXPECT_EQ(b.response[0].text(), "b");
    EXPECT_EQ(b.operation.failure, std::nullopt);
}

TEST_F(PipelineTest, AnEmptyRequestIsAnsweredAtOnce) {
    auto& call = submit("");
    run_turns();
    EXPECT_TRUE(call.resumed);
    EXPECT_EQ(call.operation.failure, std::nullopt);
    EXPECT_EQ(call.response.size(), 0u);
}

TEST_F(PipelineTest, WaitsForAConnection) {
    auto& call = submit("A");
    run_turns();
    EXPECT_TRUE(sent.empty());
    pipeline.open();
    run_turns();
    EXPECT_EQ(sent.size(), 1u);
    EXPECT_FALSE(call.resumed);
}

TEST_F(PipelineTest, WaitsForRoomInOrderOfArrival) {
    pipeline.open();
    for (auto const* command : {"A", "B", "C", "D", "E"}) submit(command);
    run_turns();
    ASSERT_EQ(sent.size(), 1u);
    EXPECT_EQ(sent[0]->wire().payload(), payload({"A", "B", "C"}));
    answer(*sent[0], "a");
    run_turns();
    ASSERT_EQ(sent.size(), 2u);
    EXPECT_EQ(sent[1]->wire().payload(), payload({"D"}));
    answer(*sent[0], "b");
    submit("F");
    run_turns();
    ASSERT_EQ(sent.size(), 3u);
    EXPECT_EQ(sent[2]->wire().payload(), payload({"E"}));
}

TEST_F(PipelineTest, DeadlineEndsASentOneWhoseReplyIsThenDropped) {
    pipeline.open();
    auto& late = submit("LATE", 100ms);
    auto& other = submit("OTHER");
    run_turns();
    pipeline.expire(start + 200ms);
    run_turns();
    ASSERT_TRUE(late.resumed);
    EXPECT_EQ(late.operation.failure->code(), errc::timeout);
    EXPECT_FALSE(other.resumed);
    answer(*sent[0], "dropped");
    answer(*sent[0], "kept");
    run_turns();
    EXPECT_EQ(late.response.size(), 0u);
    EXPECT_EQ(other.response[0].text(), "kept");
}

TEST_F(PipelineTest, OnesThatGaveUpStillTakeRoomUntilAnswered) {
    pipeline.open();
    for (auto const* command : {"A", "B", "C"}) submit(command, 100ms);
    run_turns();
    pipeline.expire(start + 200ms);
    run_turns();
    submit("D");
    run_turns();
    EXPECT_EQ(sent.size(), 1u);
    answer(*sent[0], "a");
    run_turns();
    EXPECT_EQ(sent.size(), 2u);
}

TEST_F(PipelineTest, DeadlineTellsWhyNothingWasSent) {
    auto& absent = submit("A", 100ms);
    pipeline.expire(start + 200ms);
    run_turns();
    ASSERT_TRUE(absent.resumed);
    EXPECT_EQ(absent.operation.failure->code(), errc::not_connected);
    EXPECT_EQ(absent.operation.failure->detail(), "refused");

    pipeline.open();
    for (auto const* command : {"A", "B", "C"}) submit(command, 10s);
    auto& crowded = submit("D", 300ms);
    run_turns();
    pipeline.expire(start + 400ms);
    run_turns();
    ASSERT_TRUE(crowded.resumed);
    EXPECT_EQ(crowded.operation.failure->code(), errc::timeout);
}

TEST_F(PipelineTest, BrokenConnectionRepeatsIdempotentOnesInOrder) {
    pipeline.open();
    auto& answered = submit("A");
    auto& write = submit("WRITE", 1s, false);
    run_turns();
    auto& read = submit("READ");
    run_turns();
    ASSERT_EQ(sent.size(), 2u);
    answer(*sent[0], "a");
    pipeline.receive(*sent[0], Flight::Event::init, {});
    pipeline.close();
    auto& newer = submit("NEWER");
    pipeline.landed(*sent[0], true);
    pipeline.landed(*sent[1], true);
    run_turns();
    EXPECT_TRUE(answered.resumed);
    EXPECT_EQ(answered.operation.failure, std::nullopt);
    ASSERT_TRUE(write.resumed);
    EXPECT_EQ(write.operation.failure->code(), errc::timeout);
    EXPECT_FALSE(read.resumed);

    pipeline.open();
    run_turns();
    ASSERT_EQ(sent.size(), 3u);
    EXPECT_EQ(sent[2]->wire().payload(), payload({"READ", "NEWER"}));
    answer(*sent[2], "read");
    answer(*sent[2], "newer");
    run_turns();
    EXPECT_EQ(read.response[0].text(), "read");
    EXPECT_EQ(newer.response[0].text(), "newer");
    EXPECT_TRUE(read.response.repeated());
    EXPECT_FALSE(newer.response.repeated());
    EXPECT_FALSE(answered.response.repeated());
}

TEST_F(PipelineTest, RepeatedOneForgetsHalfAnAnswer) {
    pipeline.open();
    auto& call = submit("A", 1s, true, "B");
    run_turns();
    answer(*sent[0], "old a");
    pipeline.close();
    pipeline.landed(*sent[0], true);
    pipeline.open();
    run_turns();
    answer(*sent[1], "a");
    run_turns();
    EXPECT_FALSE(call.resumed);
    answer(*sent[1], "b");
    run_turns();
    ASSERT_TRUE(call.resumed);
    ASSERT_EQ(call.response.size(), 2u);
    EXPECT_EQ(call.response[0].text(), "a");
    EXPECT_EQ(call.response[1].text(), "b");
}

TEST_F(PipelineTest, ReusedResponseForgetsWhatItHeld) {
    pipeline.open();
    auto& first = submit("A");
    run_turns();
    answer(*sent[0], "first");
    run_turns();
    Operation second{first.request, first.response, start + 1s, true};
    second.resume = [] {};
    pipeline.submit(second);
    run_turns();
    answer(*sent[1], "second");
    run_turns();
    ASSERT_EQ(first.response.size(), 1u);
    EXPECT_EQ(first.response[0].text(), "second");
}

TEST_F(PipelineTest, RefusalEndsWhatWaitsAndWhatComes) {
    auto& before = submit("A");
    pipeline.refuse(Failure{errc::access_denied, "WRONGPASS"});
    auto& behind = submit("B");
    run_turns();
    for (auto* call : {&before, &behind}) {
        ASSERT_TRUE(call->resumed);
        EXPECT_EQ(call->operation.failure->code(), errc::access_denied);
    }
    pipeline.wait_again();
    EXPECT_FALSE(submit("C").resumed);
    run_turns();
    pipeline.open();
    run_turns();
    ASSERT_EQ(sent.size(), 1u);
    EXPECT_EQ(sent[0]->wire().payload(), payload({"C"}));
}

TEST_F(PipelineTest, RefusalEndsWhatWasSentToo) {
    pipeline.open();
    auto& call = submit("A");
    run_turns();
    pipeline.refuse(Failure{errc::closed, "closed"});
    run_turns();
    ASSERT_TRUE(call.resumed);
    EXPECT_EQ(call.operation.failure->code(), errc::closed);
    pipeline.landed(*sent[0], true);
    run_turns();
}

TEST_F(PipelineTest, CancelEndsAnOperationInEachState) {
    auto& waiting = submit("A");
    pipeline.cancel(waiting.operation);
    pipeline.open();
    auto& flying = submit("B");
    run_turns();
    ASSERT_TRUE(waiting.resumed);
    EXPECT_EQ(waiting.operation.failure->code(), errc::cancelled);
    ASSERT_EQ(sent.size(), 1u);
    pipeline.cancel(flying.operation);
    pipeline.cancel(flying.operation);
    answer(*sent[0], "b");
    run_turns();
    ASSERT_TRUE(flying.resumed);
    EXPECT_EQ(flying.operation.failure->code(), errc::cancelled);
    EXPECT_EQ(flying.response.size(), 0u);

    auto& done = submit("C");
    run_turns();
    answer(*sent[1], "c");
    pipeline.cancel(done.operation);
    run_turns();
    EXPECT_EQ(done.operation.failure, std::nullopt);
}

TEST_F(PipelineTest, OneThatFailsAndRetriesAtOnceDoesNotHoldTheTurn) {
    pipeline.refuse(Failure{errc::access_denied, "no"});
    std::deque<Call> calls;
    std::size_t resumed = 0;
    std::function<void()> const retry = [&] {
        auto& call = calls.emplace_back("A", start + 1s, true);
        call.operation.resume = [&] {
            ++resumed;
            retry();
        };
        pipeline.submit(call.operation);
    };
    retry();
    for (int i = 0; i < 3; ++i) {
        ASSERT_TRUE(std::exchange(turn_wanted, false));
        pipeline.turn();
    }
    EXPECT_EQ(resumed, 3u);
    pipeline.cancel(calls.back().operation);
}

TEST_F(PipelineTest, HeldItSendsNothing) {
    pipeline.open();
    pipeline.hold();
    auto& a = submit("A");
    run_turns();
    EXPECT_TRUE(sent.empty());
    pipeline.expire(start + 500ms);
    run_turns();
    EXPECT_FALSE(a.resumed);
    pipeline.release();
    run_turns();
    ASSERT_EQ(sent.size(), 1u);
    answer(*sent[0], "1");
    pipeline.landed(*sent[0], false);
    run_turns();
    EXPECT_TRUE(a.resumed);
    EXPECT_FALSE(a.operation.failure);

    pipeline.hold();
    auto& b = submit("B");
    run_turns();
    pipeline.expire(start + 2s);
    run_turns();
    EXPECT_TRUE(b.resumed);
    EXPECT_EQ(b.operation.failure->code(), errc::timeout);

    pipeline.close();
    submit("C");
    pipeline.open();
    run_turns();
    EXPECT_EQ(sent.size(), 2u) << "a new connection is not held";
}

TEST_F(PipelineTest, TellsByWhichConnectionAResponseCame) {
    pipeline.open();
    auto& a = submit("A");
    auto& b = submit("B");
    run_turns();
    answer(*sent[0], "1");
    pipeline.close();
    pipeline.landed(*sent[0], true);
    pipeline.open();
    auto& c = submit("C");
    run_turns();
    ASSERT_EQ(sent.size(), 2u);
    answer(*sent[1], "2");
    answer(*sent[1], "3");
    pipeline.landed(*sent[1], false);
    EXPECT_EQ(a.response.connection(), 1u);
    EXPECT_EQ(b.response.connection(), 2u);
    EXPECT_EQ(c.response.connection(), 2u);
    b.response.clear();
    EXPECT_EQ(b.response.connection(), 0u);
    b.response.replace({}, std::move(c.response));
    EXPECT_EQ(b.response.connection(), 0u) << "by two, or none";
}

}  // namespace
}  // namespace rollcall::redis
