#include <atomic>
#include <thread>

#include "fixture.hpp"

namespace rollcall::test {
namespace {

class Session : public WithRedis {};

TEST_F(Session, AnswersEachCommandInOrder) {
    auto const core = connect_to(server().url());
    redis::Request request;
    request.push("SET", {"k", "v"});
    request.push("GET", {"k"});
    request.push("GET", {"absent"});
    request.push("HSET", {"h", "a", "1", "b", "2"});
    request.push("HGETALL", {"h"});

    auto const response = execute(*core, request).value();

    ASSERT_EQ(response.size(), 5u);
    EXPECT_EQ(response[0].text(), "OK");
    EXPECT_EQ(response[1].text(), "v");
    EXPECT_TRUE(response[2].is_null());
    EXPECT_EQ(response[3].integer(), 2);
    ASSERT_EQ(response[4].size(), 4u);
    EXPECT_EQ(response[4][3].text(), "2");
}

TEST_F(Session, RefusedCommandConcernsNoOther) {
    auto const core = connect_to(server().url());
    auto const before = execute(*core, "CLIENT", {"ID"}).value()[0].integer();
    redis::Request request;
    request.push("SET", {"k", "v"});
    request.push("LPUSH", {"k", "x"});
    request.push("GET", {"absent"});
    request.push("NOSUCHCOMMAND");
    request.push("GET", {"k"});

    auto const response = execute(*core, request).value();

    ASSERT_EQ(response.size(), 5u);
    ASSERT_TRUE(response[1].is_error());
    EXPECT_EQ(redis::failure_of(response[1], "k").code(), errc::unexpected_reply);
    EXPECT_TRUE(response[1].text().starts_with("WRONGTYPE"));
    EXPECT_TRUE(response[2].is_null());
    EXPECT_TRUE(response[3].is_error());
    EXPECT_EQ(response[4].text(), "v");
    EXPECT_EQ(execute(*core, "CLIENT", {"ID"}).value()[0].integer(), before);
}

TEST_F(Session, CarriesLargeBatchesAndValues) {
    auto const core = connect_to(server().url());
    redis::Request request;
    for (int i = 0; i < 1'000; ++i) request.push("SET", {std::to_string(i), std::string(100, 'x')});
    auto response = execute(*core, request).value();
    ASSERT_EQ(response.size(), 1'000u);
    EXPECT_EQ(response[999].text(), "OK");

    std::string const large(8 << 20, '\xff');
    EXPECT_EQ(execute(*core, "SET", {"large", large}).value()[0].text(), "OK");
    EXPECT_EQ(execute(*core, "GET", {"large"}).value()[0].text(), large);

    std::vector<std::string_view> push{"list"};
    push.insert(push.end(), 100'000, "member");
    EXPECT_EQ(execute(*core, "RPUSH", push).value()[0].integer(), 100'000);
    response = execute(*core, "LRANGE", {"list", "0", "-1"}).value();
    ASSERT_EQ(response[0].size(), 100'000u);
    std::size_t equal = 0;
    for (auto const member : response[0]) equal += member.text() == "member" ? 1 : 0;
    EXPECT_EQ(equal, 100'000u);
}

TEST_F(Session, AnEmptyRequestHasNoReplies) {
    auto const core = connect_to(server().url());
    EXPECT_EQ(execute(*core, redis::Request{}).value().size(), 0u);
}

Task<void> count_up(redis::Session& session, std::size_t which, int times, int& wrong) {
    auto const key = "counter:" + std::to_string(which);
    redis::Request request;
    redis::Response response;
    for (int i = 1; i <= times; ++i) {
        request.clear();
        request.push("INCR", {key});
        auto const outcome = co_await session.exec(request, response, after(30s), false);
        if (!outcome || response[0].integer() != i) ++wrong;
    }
}

TEST_F(Session, KeepsThousandsOfRequestsApart) {
    for (std::size_t const max_in_flight : {1u, 7u, 1'000u}) {
        admin.must({"FLUSHALL"});
        ClientOptions options;
        options.url = server().url();
        options.max_in_flight = max_in_flight;
        auto const core = redis::ClientCore::create(options);
        int wrong = 0;
        run_together(*core, 2'000,
                     [&](std::size_t i) { return count_up(core->session(), i, 5, wrong); });
        EXPECT_EQ(wrong, 0) << max_in_flight;
        EXPECT_EQ(admin.must({"DBSIZE"}).integer, 2'000);
    }
}

TEST_F(Session, ServesManyThreads) {
    auto const core = connect_to(server().url());
    std::atomic<int> wrong{0};
    std::vector<std::thread> threads;
    threads.reserve(8);
    for (int t = 0; t < 8; ++t) {
        threads.emplace_back([&, key = "t" + std::to_string(t)] {
            for (int i = 1; i <= 100; ++i) {
                auto const response = execute(*core, "INCR", {key});
                if (!response || response.value()[0].integer() != i) ++wrong;
            }
        });
    }
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(wrong, 0);
}

TEST_F(Session, TellsItsNameAndTheDatabaseOfItsUrl) {
    auto const core = connect_to(server().url() + "?db=3");
    execute(*core, "SET", {"k", "v"}).value();
    EXPECT_EQ(admin.must({"GET", "k"}).text, "");
    admin.must({"SELECT", "3"});
    EXPECT_EQ(admin.must({"GET", "k"}).text, "v");
    EXPECT_NE(admin.must({"CLIENT", "LIST"}).text.find(" name=rollcall "), std::string::npos);
    EXPECT_EQ(on_io_thread(*core, [&] { return core->session().local_address(); }), "");
}

class Scripts : public WithRedis {
protected:
    void SetUp() override {
        WithRedis::SetUp();
        // The text that Redis would find by this hash, without computing it ourselves.
        sha1_ = admin.must({"SCRIPT", "LOAD", std::string{text}}).text;
        admin.must({"SCRIPT", "FLUSH"});
        script.text = text;
        script.sha1 = sha1_;
    }

    static constexpr std::string_view text =
        "redis.call('INCR', KEYS[1]) return {KEYS[1], ARGV[1], ARGV[2]}";
    redis::Script script{"s", {}, {}};

private:
    std::string sha1_;
};

TEST_F(Scripts, AreLoadedWhenFirstNeeded) {
    auto const core = connect_to(server().url());
    std::vector<std::string_view> const keys{"k"};
    std::vector<std::string_view> const arguments{"a", "\r\n"};
    for (int round = 1; round <= 3; ++round) {
        redis::Request request;
        request.push_script(script, keys, arguments);
        auto const response = execute(*core, request, 5s, false).value();
        ASSERT_FALSE(response[0].is_error()) << response[0].text();
        EXPECT_EQ(response[0][2].text(), "\r\n");
        EXPECT_EQ(admin.must({"GET", "k"}).text, std::to_string(round));
        // Only the first and the third round had to send the text.
        if (round == 2) admin.must({"SCRIPT", "FLUSH"});
    }
    auto const stats = admin.must({"INFO", "commandstats"}).text;
    EXPECT_NE(stats.find("cmdstat_eval:calls=2,"), std::string::npos) << stats;
}

TEST_F(Scripts, NotLoadedOnesOfABatchAreRepeatedAlone) {
    auto const core = connect_to(server().url());
    auto const known = admin.must({"SCRIPT", "LOAD", "return redis.call('INCR', KEYS[1])"}).text;
    redis::Script const other{"o", "return redis.call('INCR', KEYS[1])", known};
    std::vector<std::string_view> const a{"a"};
    std::vector<std::string_view> const b{"b"};
    redis::Request request;
    request.push("INCR", {"plain"});
    request.push_script(script, a, a);
    request.push_script(other, b, {});
    request.push("GET", {"a"});
    request.push_script(script, b, b);
    request.push("LPUSH", {"plain", "x"});

    auto const response = execute(*core, request, 5s, false).value();

    ASSERT_EQ(response.size(), 6u);
    EXPECT_EQ(response[0].integer(), 1);
    EXPECT_EQ(response[1][0].text(), "a");
    EXPECT_EQ(response[2].integer(), 1);
    EXPECT_TRUE(response[3].is_null());
    EXPECT_EQ(response[4][0].text(), "b");
    EXPECT_TRUE(response[5].is_error());
    EXPECT_EQ(admin.must({"GET", "a"}).text, "1");
    EXPECT_EQ(admin.must({"GET", "b"}).text, "2");
    EXPECT_EQ(admin.must({"GET", "plain"}).text, "1");
}

TEST_F(Scripts, OnlyExactlyNoscriptMeansNotExecuted) {
    auto const core = connect_to(server().url());
    std::string const liar =
        "redis.call('INCR', KEYS[1]) return redis.error_reply('NOSCRIPTED not this one')";
    auto const sha1 = admin.must({"SCRIPT", "LOAD", liar}).text;
    redis::Script const lying{"l", liar, sha1};
    std::vector<std::string_view> const keys{"k"};
    redis::Request request;
    request.push_script(lying, keys, {});
    auto const response = execute(*core, request).value();
    EXPECT_TRUE(response[0].is_error());
    EXPECT_EQ(admin.must({"GET", "k"}).text, "1");
}

Task<void> run_script(redis::Session& session, redis::Script const& script, int times,
                      int& failed) {
    std::vector<std::string_view> const keys{"k"};
    redis::Request request;
    request.push_script(script, keys, keys);
    redis::Response response;
    for (int i = 0; i < times; ++i) {
        auto const outcome = co_await session.exec(request, response, after(30s), false);
        if (!outcome || response[0].is_error()) ++failed;
    }
}

TEST_F(Scripts, FlushIsInvisibleToManyAtOnce) {
    auto const core = connect_to(server().url());
    std::atomic<bool> done{false};
    std::thread flusher{[&] {
        RedisClient other{server()};
        while (!done) other.must({"SCRIPT", "FLUSH"});
    }};
    int failed = 0;
    run_together(*core, 200,
                 [&](std::size_t) { return run_script(core->session(), script, 20, failed); });
    done = true;
    flusher.join();
    EXPECT_EQ(failed, 0);
    EXPECT_EQ(admin.must({"GET", "k"}).text, "4000");
}

}  // namespace
}  // namespace rollcall::test
