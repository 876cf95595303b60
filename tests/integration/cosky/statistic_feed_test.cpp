// The statistic that counts by itself.

#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include "integration/cosky/listening.hpp"

namespace rollcall::cosky::test {
namespace {

using testing::ElementsAre;

class StatisticFeeding : public Listening {
protected:
    /// Whether `service` is stored with that many instances soon.
    bool counted(std::string const& service, std::string const& instances,
                 std::string const& space = ns) {
        return eventually([&] {
            return redis()
                       .must({"HGET", DiscoveryKeyGenerator::service_stat_key(space), service})
                       .text == instances;
        });
    }
    /// It listens: what happened before is counted, and what happens next will be.
    void start(std::string const& space = ns) {
        statistic.start(space);
        ASSERT_TRUE(eventually([&] { return patterns() == 1; }));
    }
    long long script_calls() { return command_stat(redis(), "evalsha", "calls"); }

    static StatisticOptions quick() {
        StatisticOptions options;
        options.pause = 20ms;
        return options;
    }

    RedisServiceStatistic statistic{client, quick()};
};

TEST_F(StatisticFeeding, CountsWhatIsThereAndWhatChanges) {
    registry.register_instance(ns, an_instance("order", 80));
    start();
    EXPECT_TRUE(counted("order", "1"));
    registry.register_instance(ns, an_instance("order", 81));
    EXPECT_TRUE(counted("order", "2"));
    registry.register_instance(ns, an_instance("web", 82));
    EXPECT_TRUE(counted("web", "1"));
    registry.deregister(ns, an_instance("order", 81));
    EXPECT_TRUE(counted("order", "1"));
    redis().must({"DEL", DiscoveryKeyGenerator::instance_key(ns, id_of("web", 82))});
    RedisServiceDiscovery{client}.instances(ns, "web");
    EXPECT_TRUE(counted("web", "0"));
}

TEST_F(StatisticFeeding, CountsOnlyTheServiceThatChanged) {
    registry.register_instance(ns, an_instance("order", 80));
    registry.register_instance(ns, an_instance("web", 81));
    start();
    ASSERT_TRUE(counted("web", "1"));
    redis().must({"HSET", DiscoveryKeyGenerator::service_stat_key(ns), "web", "77"});
    registry.register_instance(ns, an_instance("order", 82));
    ASSERT_TRUE(counted("order", "2"));
    registry.register_instance(ns, an_instance("order", 83));
    ASSERT_TRUE(counted("order", "3")) << "behind all that the first one caused";
    EXPECT_TRUE(counted("web", "77"));
}

TEST_F(StatisticFeeding, Defect53_ManyEventsAreFewCounts) {
    StatisticOptions slow;
    slow.pause = 300ms;
    RedisServiceStatistic patient{client, slow};
    registry.register_instance(ns, an_instance("order", 80));
    patient.start(ns);
    ASSERT_TRUE(counted("order", "1"));
    auto const before = script_calls();
    auto const channel = DiscoveryKeyGenerator::instance_key(ns, id_of("order"));
    redis().must({"EVAL", "for i = 1, 1000 do redis.call('PUBLISH', ARGV[1], 'register') end", "0",
                  channel});
    redis().must({"HSET", DiscoveryKeyGenerator::service_stat_key(ns), "order", "77"});
    ASSERT_TRUE(counted("order", "1"));
    EXPECT_LE(script_calls() - before, 2);
}

TEST_F(StatisticFeeding, RenewalsCountNothing) {
    registry.register_instance(ns, an_instance("order", 80));
    registry.set_service(ns, "web");
    start();
    ASSERT_TRUE(counted("order", "1"));
    redis().must({"HSET", DiscoveryKeyGenerator::service_stat_key(ns), "order", "77"});
    publish(id_of("order"), "renew");
    settle();
    registry.register_instance(ns, an_instance("web", 80));
    ASSERT_TRUE(counted("web", "1"));
    EXPECT_TRUE(counted("order", "77"));
}

TEST_F(StatisticFeeding, CountsAllAfterAnInterruption) {
    registry.register_instance(ns, an_instance("order", 80));
    start();
    ASSERT_TRUE(counted("order", "1"));
    redis().must({"HSET", DiscoveryKeyGenerator::service_stat_key(ns), "order", "77"});
    redis().must({"CLIENT", "KILL", "TYPE", "pubsub"});
    listener = Listener{server()};
    EXPECT_TRUE(counted("order", "1"));
}

TEST_F(StatisticFeeding, AFailureIsLoggedAndTriedAgain) {
    registry.register_instance(ns, an_instance("order", 80));
    registry.set_service(ns, "web");
    start();
    ASSERT_TRUE(counted("order", "1"));
    auto const stats = DiscoveryKeyGenerator::service_stat_key(ns);
    redis().must({"DEL", stats});
    redis().must({"SET", stats, "no Hash"});
    publish(id_of("order"), "register");
    publish(id_of("web"), "register");
    ASSERT_TRUE(eventually([&] { return log.has("counting order in " + ns + " failed"); }));
    redis().must({"DEL", stats});
    EXPECT_TRUE(counted("order", "1"));
    EXPECT_TRUE(counted("web", "0"));
}

TEST_F(StatisticFeeding, OddMessagesEndNothing) {
    start();
    registry.register_instance(ns, an_instance("order", 80));
    ASSERT_TRUE(counted("order", "1"));
    publish("order", "register");
    publish(id_of("order"), "hello");
    publish(id_of("order"), std::string(2 << 20, 'x'));
    publish(id_of("unknown"), "register");
    registry.register_instance(ns, an_instance("order", 81));
    EXPECT_TRUE(counted("order", "2"));
    EXPECT_THAT(statistic.service_stats(ns), ElementsAre(ServiceStat{"order", 2}));
}

TEST_F(StatisticFeeding, Defect53_StopsAndStartsAgain) {
    registry.register_instance(ns, an_instance("order", 80));
    registry.register_instance("other-{x}", an_instance("order", 80));
    statistic.start(ns);
    statistic.start(ns);
    statistic.start("other-{x}");
    ASSERT_TRUE(counted("order", "1"));
    ASSERT_TRUE(counted("order", "1", "other-{x}"));
    EXPECT_EQ(patterns(), 2);
    statistic.stop(ns);
    statistic.stop(ns);
    ASSERT_TRUE(eventually([&] { return patterns() == 1; }));
    registry.register_instance(ns, an_instance("order", 81));
    registry.register_instance("other-{x}", an_instance("order", 81));
    EXPECT_TRUE(counted("order", "2", "other-{x}"));
    EXPECT_TRUE(counted("order", "1"));
    statistic.stop();
    ASSERT_TRUE(eventually([&] { return patterns() == 0; }));
    statistic.start(ns);
    EXPECT_TRUE(counted("order", "2"));
}

TEST_F(StatisticFeeding, NothingIsCountedAfterItStopped) {
    RedisServiceStatistic other{client, quick()};
    for (int round = 1; round <= 5; ++round) {
        start();
        registry.register_instance(ns, an_instance("order", 80));
        statistic.stop();
        statistic.service_stats(ns);  // Answered behind all that was sent before.
        redis().must({"HSET", DiscoveryKeyGenerator::service_stat_key(ns), "order", "77"});
        // What takes as long as a count of ours would.
        other.start("other-{x}");
        registry.register_instance("other-{x}", an_instance("order", round));
        ASSERT_TRUE(counted("order", std::to_string(round), "other-{x}"));
        other.stop();
        EXPECT_TRUE(counted("order", "77"));
    }
}

TEST_F(StatisticFeeding, BadOptionsAndNamesAreRefused) {
    StatisticOptions none;
    none.pause = 0ms;
    EXPECT_THROW((RedisServiceStatistic{client, none}), std::invalid_argument);
    EXPECT_THROW(statistic.start("a:b"), std::invalid_argument);
}

TEST_F(StatisticFeeding, AForkedChildCountsNothing) {
    registry.register_instance(ns, an_instance("order", 80));
    auto own = std::make_unique<RedisServiceStatistic>(client, quick());
    own->start(ns);
    ASSERT_TRUE(counted("order", "1"));
    auto const child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        int wrong = 1;
        try {
            own->start("other-{x}");
        } catch (Error const& error) {
            if (error.code() == errc::closed) wrong = 0;
        }
        own->stop(ns);
        own.reset();
        ::_exit(wrong);
    }
    int status = -1;
    ASSERT_TRUE(eventually([&] { return ::waitpid(child, &status, WNOHANG) == child; }));
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 0);
    registry.register_instance(ns, an_instance("order", 81));
    EXPECT_TRUE(counted("order", "2"));
}

}  // namespace
}  // namespace rollcall::cosky::test
