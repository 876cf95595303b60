#include <atomic>
#include <csignal>
#include <future>
#include <gmock/gmock.h>
#include <thread>

#include "cosky/discovery_redis_scripts.hpp"
#include "cosky/renewal_round.hpp"
#include "integration/cosky/fixture.hpp"
#include "integration/redis/detour.hpp"

namespace rollcall::cosky::test {
namespace {

using rollcall::test::Detour;
using rollcall::test::time_of;
using rollcall::test::tolerated_overshoot;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

/// Calls that meet on their way.
class RegistrationRace : public CoskyTest {
protected:
    static constexpr auto delay = 60ms;

    static ServiceInstance with(std::string version, bool ephemeral = true) {
        auto result = an_instance("order");
        result.metadata = {{"v", std::move(version)}};
        result.ephemeral = ephemeral;
        return result;
    }
    std::string key() { return DiscoveryKeyGenerator::instance_key(ns, id); }
    bool listed() {
        return redis()
                   .must({"SISMEMBER", DiscoveryKeyGenerator::instance_idx_key(ns, "order"), id})
                   .integer == 1;
    }
    std::string version() { return field(id, "_v"); }
    /// What is kept alive says the same as Redis.
    void expect_agreement() {
        auto const kept = registry.registered_ephemeral_instances();
        bool const ephemeral = field(id, "ephemeral") == "true";
        ASSERT_EQ(kept.size(), ephemeral ? 1u : 0u);
        if (!ephemeral) return;
        auto const& metadata = kept.begin()->second.metadata;
        EXPECT_EQ(metadata.at("v"), version());
    }
    void lose() {
        redis().must({"DEL", key()});
        redis().must({"DEL", DiscoveryKeyGenerator::instance_idx_key(ns, "order")});
    }

    /// Calls `first`, and `second` when its first request, or a later one, is on its way.
    template <class First, class Second>
    void meet(First first, Second second, std::size_t request = 1) {
        auto const wanted = detour.seen() + request;
        auto calling = std::async(std::launch::async, first);
        ASSERT_TRUE(eventually([&] { return detour.seen() >= wanted; }));
        second();
        calling.get();
    }

    ClientOptions slow_options(std::chrono::milliseconds timeout) {
        auto result = options();
        result.url = detour.url();
        result.request_timeout = timeout;
        return result;
    }

    Detour detour{server(), delay};
    Client slow{slow_options(5s)};
    RedisServiceRegistry registry{slow};
    std::string const id = id_of("order");
};

TEST_F(RegistrationRace, Defect4_NoSingleRenewalBringsBackWhatIsDeregisteredMeanwhile) {
    registry.register_instance(ns, with("1"));
    registry.renew(ns, with("1"));
    lose();
    meet([&] { registry.renew(ns, with("1")); }, [&] { registry.deregister(ns, with("1")); });
    EXPECT_THAT(registry.registered_ephemeral_instances(), IsEmpty());
    EXPECT_FALSE(listed());

    registry.register_instance(ns, with("1"));
    std::atomic<bool> ended = false;
    bool overlaps = false;
    meet(
        [&] {
            registry.deregister(ns, with("1"));
            ended = true;
        },
        [&] {
            overlaps = !ended;
            EXPECT_NE(registry.renew(ns, with("1")), overlaps);
        });
    EXPECT_NE(listed(), overlaps);
    EXPECT_TRUE(registry.renew(ns, with("1"))) << "asked for afterwards";
    EXPECT_TRUE(listed());
}

TEST_F(RegistrationRace, Defect4_NorDoesARoundThatWasOnItsWay) {
    registry.register_instance(ns, with("1"));
    registry.renew_registered(10s);
    lose();
    meet([&] { registry.renew_registered(10s); }, [&] { registry.deregister(ns, with("1")); });
    EXPECT_THAT(registry.registered_ephemeral_instances(), IsEmpty());
    EXPECT_FALSE(listed());
}

TEST_F(RegistrationRace, Defect4_NorARegistrationWhoseScriptRedisDoesNotKnow) {
    registry.deregister(ns, with("1"));  // Redis knows this script only.
    meet([&] { registry.register_instance(ns, with("1")); },
         [&] { EXPECT_TRUE(registry.deregister(ns, with("1"))) << "called later, so done later"; });
    EXPECT_THAT(registry.registered_ephemeral_instances(), IsEmpty());
    EXPECT_FALSE(listed());
    EXPECT_THAT(heard(), ElementsAre("svc_idx ← set", "svc_itc:" + id + " ← register",
                                     "svc_itc:" + id + " ← deregister"));
}

TEST_F(RegistrationRace, ANewRegistrationOutlivesTheEndOfAnOlderOne) {
    for (bool const ephemeral : {true, false}) {
        redis().must({"FLUSHALL"});
        redis().must({"SCRIPT", "FLUSH"});
        registry.deregister(ns, with("1"));  // Redis knows this script only.
        meet([&] { registry.register_instance(ns, with("1")); },
             [&] {
                 registry.deregister(ns, with("1"));
                 EXPECT_TRUE(registry.register_instance(ns, with("2", ephemeral)));
             });
        EXPECT_TRUE(listed()) << ephemeral;
        EXPECT_EQ(version(), "2") << ephemeral;
        expect_agreement();
    }
}

TEST_F(RegistrationRace, ANewRegistrationOutlivesThatOfARound) {
    for (bool const ephemeral : {true, false}) {
        registry.register_instance(ns, with("1"));
        redis().must({"SCRIPT", "FLUSH"});
        registry.renew_registered(10s);
        registry.deregister(ns, an_instance("other"));
        lose();
        // The round has found it lost and registers it, with a script that Redis does not know.
        constexpr std::size_t registration = 2;
        meet([&] { registry.renew_registered(10s); },
             [&] {
                 registry.deregister(ns, with("1"));
                 EXPECT_TRUE(registry.register_instance(ns, with("2", ephemeral)));
             },
             registration);
        EXPECT_TRUE(listed()) << ephemeral;
        EXPECT_EQ(version(), "2") << ephemeral;
        expect_agreement();
    }
}

TEST_F(RegistrationRace, Defect16_TheLaterDescriptionWins) {
    registry.register_instance(ns, with("1"));
    registry.merge_metadata(ns, "order", id, {{"zone", "a"}});
    redis().must({"SCRIPT", "FLUSH"});
    registry.merge_metadata(ns, "order", id, {{"zone", "b"}});  // Redis knows this script only.
    meet([&] { registry.set_metadata(ns, "order", id, "v", "2"); },
         [&] { registry.merge_metadata(ns, "order", id, {{"zone", "c"}}); });
    EXPECT_EQ(version(), "2");
    EXPECT_EQ(field(id, "_zone"), "c");
    expect_agreement();

    redis().must({"SCRIPT", "FLUSH"});
    registry.merge_metadata(ns, "order", id, {{"zone", "b"}});
    meet([&] { registry.register_instance(ns, with("3")); },
         [&] { registry.merge_metadata(ns, "order", id, {{"v", "4"}}); });
    EXPECT_EQ(version(), "4");
    expect_agreement();
}

TEST_F(RegistrationRace, Defect16_ManyDescriptionsAtOnceLeaveTheSameHereAndThere) {
    RedisServiceRegistry direct{client};
    direct.register_instance(ns, with("0"));
    for (int attempt = 0; attempt < 50; ++attempt) {
        std::vector<std::future<void>> calls;
        for (auto const* value : {"1", "2", "3"}) {
            calls.push_back(std::async(std::launch::async, [&direct, this, value] {
                direct.set_metadata(ns, "order", id, "v", value);
            }));
        }
        calls.push_back(std::async(std::launch::async,
                                   [&] { direct.register_instance(ns, with("registered")); }));
        for (auto& call : calls) call.get();
        auto const kept = direct.registered_ephemeral_instances();
        ASSERT_EQ(kept.begin()->second.metadata.at("v"), version()) << "attempt " << attempt;
    }
}

/// Writes without an answer, which Redis carries out later.
class Unanswered : public RegistrationRace {
protected:
    /// Calls while Redis stands still, and waits until it has done it all the same.
    template <class Call, class Done>
    void without_answer(Call call, Done done) {
        std::error_code error;
        server().signal(SIGSTOP);
        call(error);
        server().signal(SIGCONT);
        EXPECT_EQ(error, errc::timeout);
        ASSERT_TRUE(eventually(done));
    }

    Client hasty{[this] {
        auto result = options();
        result.request_timeout = 200ms;
        return result;
    }()};
    RedisServiceRegistry here{hasty};
};

TEST_F(Unanswered, Defect16_DescriptionsAreNotLost) {
    here.register_instance(ns, with("1"));
    here.set_metadata(ns, "order", id, "v", "1");
    without_answer([&](auto& error) { here.set_metadata(ns, "order", id, "v", "2", error); },
                   [&] { return version() == "2"; });
    lose();
    ASSERT_EQ(here.renew_registered(10s).at(0).renewal, Renewal::registered_again);
    EXPECT_EQ(version(), "2");

    without_answer([&](auto& error) { here.register_instance(ns, with("3"), error); },
                   [&] { return version() == "3"; });
    lose();
    EXPECT_TRUE(here.renew(ns, with("given")));
    EXPECT_EQ(version(), "3");
}

TEST_F(Unanswered, Defect16_WhatIsStoredIsReadBeforeItIsLost) {
    here.register_instance(ns, with("1"));
    here.set_metadata(ns, "order", id, "v", "1");
    auto const read = [&] {
        return here.registered_ephemeral_instances().begin()->second.metadata.at("v");
    };
    for (bool const single : {false, true}) {
        // What Redis has is another thing than what was asked for.
        without_answer([&](auto& error) { here.set_metadata(ns, "order", id, "v", "2", error); },
                       [&] { return version() == "2"; });
        redis().must({"HSET", key(), "_v", "stored"});
        EXPECT_EQ(read(), "2");
        single ? (void)here.renew(ns, with("1")) : (void)here.renew_registered(10s);
        EXPECT_EQ(read(), "stored");
    }
    redis().must({"HSET", key(), "_v", "by somebody"});
    here.renew_registered(10s);
    EXPECT_EQ(read(), "stored") << "read once only";
}

TEST_F(Unanswered, APersistentRegistrationIsNotTakenBack) {
    for (bool const single : {false, true}) {
        here.register_instance(ns, with("1"));
        without_answer([&](auto& error) { here.register_instance(ns, with("2", false), error); },
                       [&] { return version() == "2"; });
        if (single) {
            EXPECT_FALSE(here.renew(ns, with("1")));
        } else {
            EXPECT_EQ(here.renew_registered(10s).at(0).renewal, Renewal::released);
        }
        EXPECT_EQ(ttl(id), -1);
        EXPECT_THAT(here.registered_ephemeral_instances(), IsEmpty());
    }
}

TEST_F(RegistrationRace, ASingleRenewalHasOneDeadline) {
    constexpr auto timeout = 3 * delay;
    Client hasty{slow_options(timeout)};
    hasty.wait_until_ready(5s);
    RedisServiceRegistry here{hasty};
    registry.register_instance(ns, with("1"));
    registry.renew(ns, with("1"));  // Redis knows the scripts.
    lose();
    std::error_code error;
    // Two round trips, of which it has time for one and a half.
    auto const took = time_of([&] { here.renew(ns, with("1"), error); });
    EXPECT_EQ(error, errc::timeout);
    EXPECT_LT(took, timeout + tolerated_overshoot);
}

TEST_F(RegistrationRace, UnderTheNameOfAnotherServiceNothingBecomesOfAnInstance) {
    registry.register_instance(ns, with("1"));
    EXPECT_FALSE(registry.deregister(ns, "other", id));
    EXPECT_THAT(registry.registered_ephemeral_instances(), SizeIs(1));
    EXPECT_EQ(registry.renew_registered(10s).at(0).renewal, Renewal::renewed);
    // A peer listed it there; the script of the design removes its key with it.
    redis().must({"SADD", DiscoveryKeyGenerator::instance_idx_key(ns, "other"), id});
    EXPECT_TRUE(registry.deregister(ns, "other", id));
    EXPECT_EQ(registry.renew_registered(10s).at(0).renewal, Renewal::registered_again);
    EXPECT_TRUE(listed());
}

/// Rounds over more instances than a test can register.
class LongRound : public CoskyTest {
protected:
    void keep(int count) {
        for (int i = 0; i < count; ++i) {
            auto const instance = validated(an_instance("order", 1'000 + i));
            auto const operation = own.registration({ns, instance.instance_id});
            own.keep(operation, std::make_shared<ServiceInstance const>(instance), {});
        }
    }
    rollcall::test::Core core(std::string url, std::chrono::milliseconds timeout) {
        ClientOptions of_core;
        of_core.url = std::move(url);
        of_core.log = log.callback();
        of_core.request_timeout = timeout;
        return redis::ClientCore::create(of_core);
    }
    RenewalRound::Outcome round(rollcall::test::Core const& client_core, std::size_t wave,
                                std::chrono::milliseconds limit) {
        DiscoveryRedisScripts const scripts{client_core};
        RenewalRound::Settings settings;
        settings.wave = wave;
        settings.limit = limit;
        Lanes lanes;
        return RenewalRound{scripts, own, lanes, settings}.run_all(own.all());
    }

    OwnInstances own;
};

TEST_F(LongRound, EndsWithTheFirstWaveThatIsNotAnswered) {
    keep(1'000);
    auto const here = core(server().url(), 200ms);
    EXPECT_EQ(round(here, 100, 10s).asked, 1'000u);
    server().signal(SIGSTOP);
    RenewalRound::Outcome outcome;
    auto const took = time_of([&] { outcome = round(here, 100, 10s); });
    server().signal(SIGCONT);
    EXPECT_LT(took, 200ms + tolerated_overshoot);
    EXPECT_EQ(outcome.asked, 0u);
    EXPECT_THAT(outcome.renewals, testing::AllOf(SizeIs(1'000), testing::Each(Renewal::failed)));
    EXPECT_TRUE(log.has("1000 of 1000 instances were not renewed in time"));
}

TEST_F(LongRound, EndsWithItsPeriod) {
    keep(1'000);
    Detour const detour{server(), 50ms};
    auto const here = core(detour.url(), 1s);
    auto const complete = round(here, 1'000, 1s);  // Connected, and registered.
    ASSERT_EQ(complete.asked, 1'000u);
    RenewalRound::Outcome outcome;
    auto const took = time_of([&] { outcome = round(here, 10, 1s); });
    EXPECT_LT(took, 1s + tolerated_overshoot);
    EXPECT_GT(outcome.asked, 0u);
    EXPECT_LT(outcome.asked, 1'000u);
    EXPECT_EQ(outcome.renewals.front(), Renewal::renewed);
    EXPECT_EQ(outcome.renewals.back(), Renewal::failed);
}

}  // namespace
}  // namespace rollcall::cosky::test
