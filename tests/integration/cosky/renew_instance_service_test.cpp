#include <array>
#include <atomic>
#include <boost/asio/post.hpp>
#include <csignal>
#include <future>
#include <gmock/gmock.h>
#include <map>
#include <memory>
#include <mutex>
#include <pthread.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "integration/cosky/fixture.hpp"

namespace rollcall::cosky::test {
namespace {

RenewProperties every(std::chrono::milliseconds period) {
    RenewProperties properties;
    properties.initial_delay = 1ms;
    properties.period = period;
    return properties;
}

/// A registry that only counts its rounds.
class Rounds : public ServiceRegistry {
public:
    std::vector<RenewedInstance> renew_registered(std::chrono::milliseconds) override {
        bool const alone = !inside_.exchange(true);
        if (!alone) overlapping = true;
        ++rounds;
        while (hold) std::this_thread::sleep_for(1ms);
        inside_ = false;
        if (broken) throw std::runtime_error{"broken"};
        if (odd) throw 5;
        return {
            {ns, std::make_shared<ServiceInstance>(an_instance("order")), Renewal::renewed},
            {ns, std::make_shared<ServiceInstance>(an_instance("web")), Renewal::failed},
            {ns, std::make_shared<ServiceInstance>(an_instance("web")), Renewal::registered_again}};
    }
    bool set_service(std::string_view, std::string_view) override { return false; }
    bool set_service(std::string_view, std::string_view, std::error_code&) override {
        return false;
    }
    bool remove_service(std::string_view, std::string_view) override { return false; }
    bool remove_service(std::string_view, std::string_view, std::error_code&) override {
        return false;
    }
    bool register_instance(std::string_view, ServiceInstance const&) override { return false; }
    bool register_instance(std::string_view, ServiceInstance const&, std::error_code&) override {
        return false;
    }
    bool deregister(std::string_view, ServiceInstance const&) override { return false; }
    bool deregister(std::string_view, ServiceInstance const&, std::error_code&) override {
        return false;
    }
    bool deregister(std::string_view, std::string_view, std::string_view) override { return false; }
    bool deregister(std::string_view, std::string_view, std::string_view,
                    std::error_code&) override {
        return false;
    }
    bool renew(std::string_view, ServiceInstance const&) override { return false; }
    bool renew(std::string_view, ServiceInstance const&, std::error_code&) override {
        return false;
    }
    bool set_metadata(std::string_view, std::string_view, std::string_view, std::string_view,
                      std::string_view) override {
        return false;
    }
    bool set_metadata(std::string_view, std::string_view, std::string_view, std::string_view,
                      std::string_view, std::error_code&) override {
        return false;
    }
    bool set_metadata(std::string_view, std::string_view, std::string_view,
                      Metadata const&) override {
        return false;
    }
    bool set_metadata(std::string_view, std::string_view, std::string_view, Metadata const&,
                      std::error_code&) override {
        return false;
    }
    bool merge_metadata(std::string_view, std::string_view, std::string_view,
                        Metadata const&) override {
        return false;
    }
    bool merge_metadata(std::string_view, std::string_view, std::string_view, Metadata const&,
                        std::error_code&) override {
        return false;
    }
    std::map<NamespacedInstanceId, ServiceInstance> registered_ephemeral_instances()
        const override {
        return {};
    }
    RegistryProperties const& properties() const noexcept override { return properties_; }

    std::atomic<int> rounds = 0;
    std::atomic<bool> hold = false;
    std::atomic<bool> broken = false;
    std::atomic<bool> odd = false;
    std::atomic<bool> overlapping = false;

private:
    std::atomic<bool> inside_ = false;
    RegistryProperties properties_;
};

TEST(RenewInstanceService, Defect30_ThePeriodIsCheckedAndRoundsDoNotOverlap) {
    Rounds registry;
    for (auto const wrong : {0ms, -1ms, 60'000ms, 61'000ms}) {
        EXPECT_THROW((RenewInstanceService{registry, every(wrong)}), std::invalid_argument)
            << wrong.count();
    }
    RenewInstanceService service{registry, every(2ms)};
    registry.hold = true;
    service.start();
    ASSERT_TRUE(eventually([&] { return registry.rounds == 1; }));
    std::this_thread::sleep_for(20ms);  // Ten periods.
    EXPECT_EQ(registry.rounds, 1);
    registry.hold = false;
    EXPECT_TRUE(eventually([&] { return registry.rounds > 3; }));
    EXPECT_FALSE(registry.overlapping);
}

TEST(RenewInstanceService, Defect31_StartsAgainAfterAStop) {
    Rounds registry;
    RenewInstanceService service{registry, every(1ms)};
    service.start();
    service.start();
    EXPECT_TRUE(service.is_running());
    ASSERT_TRUE(eventually([&] { return registry.rounds > 0; }));
    service.stop();
    service.stop();
    EXPECT_FALSE(service.is_running());
    int const before = registry.rounds;
    std::this_thread::sleep_for(10ms);
    EXPECT_EQ(registry.rounds, before);
    service.start();
    EXPECT_TRUE(eventually([&] { return registry.rounds > before; }));
}

TEST(RenewInstanceService, Defect32_TheHookIsCalledForWhatLivesAndMayThrow) {
    Rounds registry;
    std::mutex mutex;
    std::vector<std::string> told;
    RenewInstanceService service{registry, every(30s), [&](RenewedInstance const& renewed) {
                                     std::lock_guard const lock{mutex};
                                     told.push_back(renewed.instance->service_name);
                                     throw std::runtime_error{"hook"};
                                 }};
    service.start();
    ASSERT_TRUE(eventually([&] {
        std::lock_guard const lock{mutex};
        return told.size() == 2;
    }));
    service.stop();
    EXPECT_THAT(told, testing::ElementsAre("order", "web")) << "not for the one that failed";
}

TEST(RenewInstanceService, ABrokenRegistryEndsNoRounds) {
    for (bool const odd : {false, true}) {
        Rounds registry;
        registry.broken = !odd;
        registry.odd = odd;
        RenewInstanceService service{registry, every(1ms)};
        service.start();
        EXPECT_TRUE(eventually([&] { return registry.rounds > 3; }));
    }
}

TEST(RenewInstanceService, TheHookMayStopAndStartIt) {
    Rounds registry;
    std::atomic<int> told = 0;
    std::atomic<bool> again = false;
    RenewInstanceService* self = nullptr;
    RenewInstanceService service{registry, every(1ms), [&](RenewedInstance const&) {
                                     ++told;
                                     self->stop();
                                     if (again) self->start();
                                 }};
    self = &service;
    for (int run = 1; run <= 3; ++run) {
        service.start();
        ASSERT_TRUE(eventually([&] { return !service.is_running(); }));
        service.stop();
        EXPECT_EQ(told, run) << "no more once it has been stopped";
        EXPECT_EQ(registry.rounds, run);
    }
    again = true;
    service.start();
    EXPECT_TRUE(eventually([&] { return registry.rounds > 10; }));
    EXPECT_FALSE(registry.overlapping);
    again = false;
}

TEST(RenewInstanceService, TheHookMayDestroyIt) {
    Rounds registry;
    std::atomic<bool> gone = false;
    std::unique_ptr<RenewInstanceService> service;
    auto const hook = [&](RenewedInstance const&) {
        service.reset();
        gone = true;
    };
    service = std::make_unique<RenewInstanceService>(registry, every(1ms), hook);
    service->start();
    EXPECT_TRUE(eventually([&] { return gone.load(); }));
    EXPECT_EQ(registry.rounds, 1);
}

TEST(RenewInstanceService, AStartWithoutAThreadIsNone) {
    Rounds registry;
    RenewInstanceService service{registry, every(1ms)};
    pthread_attr_t usual;
    ASSERT_EQ(::pthread_getattr_default_np(&usual), 0);
    pthread_attr_t huge;
    ASSERT_EQ(::pthread_attr_init(&huge), 0);
    ASSERT_EQ(::pthread_attr_setstacksize(&huge, std::size_t{1} << 47), 0);
    ASSERT_EQ(::pthread_setattr_default_np(&huge), 0);
    EXPECT_THROW(service.start(), std::system_error);
    ::pthread_setattr_default_np(&usual);
    ::pthread_attr_destroy(&huge);
    ::pthread_attr_destroy(&usual);
    EXPECT_FALSE(service.is_running());
    service.start();
    EXPECT_TRUE(eventually([&] { return registry.rounds > 0; }));
}

TEST(RenewInstanceService, ItsThreadHasANameAndTakesNoSignals) {
    Rounds registry;
    std::promise<std::pair<std::string, bool>> seen;
    RenewInstanceService service{registry, every(30s), [&, told = false](auto const&) mutable {
                                     if (std::exchange(told, true)) return;
                                     std::array<char, 16> name{};
                                     ::pthread_getname_np(::pthread_self(), name.data(),
                                                          name.size());
                                     sigset_t blocked;
                                     ::pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
                                     bool all = true;
                                     for (int const signal : {SIGTERM, SIGINT, SIGUSR1, SIGCHLD}) {
                                         all = all && ::sigismember(&blocked, signal) == 1;
                                     }
                                     seen.set_value({name.data(), all});
                                 }};
    service.start();
    auto const [name, all_blocked] = seen.get_future().get();
    EXPECT_EQ(name, "rollcall-renew");
    EXPECT_TRUE(all_blocked);
    sigset_t mine;
    ::pthread_sigmask(SIG_SETMASK, nullptr, &mine);
    EXPECT_EQ(::sigismember(&mine, SIGTERM), 0);
}

/// Whether `check` holds in a forked child, which leaves without any destructor.
template <class Check>
bool holds_in_child(Check check) {
    auto const child = ::fork();
    if (child == 0) ::_exit(check() ? 0 : 1);
    int status = -1;
    bool const ended = eventually([&] { return ::waitpid(child, &status, WNOHANG) == child; });
    if (!ended) {
        ::kill(child, SIGKILL);
        ::waitpid(child, &status, 0);
    }
    return ended && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST(RenewInstanceService, AForkedChildHasNoRounds) {
    Rounds registry;
    auto service = std::make_unique<RenewInstanceService>(registry, every(1ms));
    auto const nothing_runs = [&] {
        bool running = service->is_running();
        service->stop();
        service->start();
        running = running || service->is_running();
        service.reset();
        return !running;
    };
    service->start();
    EXPECT_TRUE(holds_in_child(nothing_runs));
    EXPECT_TRUE(service->is_running());
    service->stop();
    EXPECT_TRUE(holds_in_child(nothing_runs)) << "nor where they had been stopped";
}

class Renewing : public CoskyTest {
protected:
    std::string key(std::string const& of) { return DiscoveryKeyGenerator::instance_key(ns, of); }
    RedisServiceRegistry registry{client, {3s}};
    /// Listed under a service of its own, and gone.
    std::string expired_in(std::string const& space, std::string const& service) {
        redis().must({"SADD", DiscoveryKeyGenerator::service_idx_key(space), service});
        redis().must(
            {"SADD", DiscoveryKeyGenerator::instance_idx_key(space, service), id_of(service)});
        return DiscoveryKeyGenerator::instance_idx_key(space, service);
    }
    bool exists(std::string const& of) { return redis().must({"EXISTS", of}).integer == 1; }

    std::string const id = id_of("order");
};

TEST_F(Renewing, SweepsTheNamespacesThatItRenewsIn) {
    auto properties = every(20ms);
    properties.sweep_period = 30ms;
    RenewInstanceService service{registry, properties};
    service.start();
    auto const far = expired_in("{far}", "web");
    auto const near = expired_in(ns, "web");
    registry.register_instance(ns, an_instance("order"));
    EXPECT_TRUE(eventually([&] { return !exists(near); }));
    EXPECT_THAT(heard(), testing::Contains("svc_itc:" + id_of("web") + " ← expired"));
    EXPECT_TRUE(exists(far)) << "nothing is renewed there";
    registry.register_instance("{far}", an_instance("order"));
    EXPECT_TRUE(eventually([&] { return !exists(far); }));
    EXPECT_TRUE(exists("{far}:rollcall:sweep"));
    registry.deregister("{far}", an_instance("order"));
    // Sooner than it ends by itself.
    EXPECT_TRUE(eventually([&] { return !exists("{far}:rollcall:sweep"); }, 2s));
    EXPECT_TRUE(exists(ns + ":rollcall:sweep"));
    service.stop();
    EXPECT_FALSE(exists(ns + ":rollcall:sweep")) << "others need not wait for its end";
}

TEST_F(Renewing, OneProcessSweepsANamespaceAndAnotherTakesOver) {
    auto properties = every(20ms);
    properties.sweep_period = 20ms;
    Client second{server().url()};
    RedisServiceRegistry others{second, {3s}};
    registry.register_instance(ns, an_instance("order"));
    others.register_instance(ns, an_instance("order", 81));
    auto const lease = ns + ":rollcall:sweep";
    RenewInstanceService first{registry, properties};
    first.start();
    ASSERT_TRUE(eventually([&] { return exists(lease); }));
    auto const token = redis().must({"GET", lease}).text;
    RenewInstanceService next{others, properties};
    next.start();
    auto const list = expired_in(ns, "web");
    EXPECT_TRUE(eventually([&] { return !exists(list); }));
    EXPECT_EQ(redis().must({"GET", lease}).text, token);
    first.stop();
    EXPECT_TRUE(eventually([&] {
        auto const held = redis().must({"GET", lease}).text;
        return !held.empty() && held != token;
    }));
}

TEST_F(Renewing, OneNamespaceThatCannotBeSweptStopsNoOther) {
    auto properties = every(20ms);
    properties.sweep_period = 20ms;
    std::map<std::string, std::string> lists;
    RenewInstanceService service{registry, properties};
    service.start();
    for (std::string const space : {"{b}", "{c}"}) {
        lists[space] = expired_in(space, "web");
        registry.register_instance(space, an_instance("order"));
    }
    registry.register_instance("{a}", an_instance("order"));
    redis().must({"DEL", "{a}:svc_idx"});
    redis().must({"SET", "{a}:svc_idx", "no set"});
    EXPECT_TRUE(eventually([&] { return !exists(lists["{b}"]) && !exists(lists["{c}"]); }));
    EXPECT_TRUE(eventually([&] { return log.has("expired instances in {a} could not be"); }));
    auto const later = expired_in("{c}", "web");
    EXPECT_TRUE(eventually([&] { return !exists(later); }));
}

TEST_F(Renewing, SweepsNothingWithoutAPeriod) {
    auto properties = every(5ms);
    properties.sweep_period = 0ms;
    std::atomic<int> rounds = 0;
    RenewInstanceService service{registry, properties, [&](RenewedInstance const&) { ++rounds; }};
    registry.register_instance(ns, an_instance("order"));
    auto const list = expired_in(ns, "web");
    service.start();
    EXPECT_TRUE(eventually([&] { return rounds > 20; }));
    EXPECT_FALSE(exists(ns + ":rollcall:sweep"));
    EXPECT_TRUE(exists(list));
    properties.sweep_period = -1ms;
    EXPECT_THROW((RenewInstanceService{registry, properties}), std::invalid_argument);
}

TEST_F(Renewing, MayBeStoppedAndStartedInALogCallback) {
    registry.register_instance(ns, an_instance("order"));
    RenewInstanceService service{registry, every(5ms)};
    server().signal(SIGSTOP);  // The round that is on its way waits for the I/O thread.
    service.start();
    std::this_thread::sleep_for(20ms);
    std::promise<bool> stopped;
    boost::asio::post(client.core()->io(), [&] {
        service.stop();
        stopped.set_value(service.is_running());
    });
    auto outcome = stopped.get_future();
    EXPECT_EQ(outcome.wait_for(1s), std::future_status::ready);
    server().signal(SIGCONT);
    EXPECT_FALSE(outcome.get());
    service.stop();
    std::promise<void> started;
    boost::asio::post(client.core()->io(), [&] {
        service.start();
        started.set_value();
    });
    started.get_future().wait();
    redis().must({"DEL", key(id)});
    EXPECT_TRUE(eventually([&] { return ttl(id) > 0; }));
}

TEST_F(Renewing, KeepsAliveAndBringsBack) {
    RenewInstanceService service{registry, every(50ms)};
    service.start();
    registry.register_instance(ns, an_instance("order"));
    redis().must({"PEXPIRE", key(id), "1500"});
    EXPECT_TRUE(eventually([&] { return redis().must({"PTTL", key(id)}).integer > 2'500; }));
    redis().must({"FLUSHALL"});
    EXPECT_TRUE(eventually([&] { return ttl(id) > 0; }));
    registry.deregister(ns, an_instance("order"));
    service.stop();
    EXPECT_EQ(redis().must({"EXISTS", key(id)}).integer, 0);
}

TEST_F(Renewing, SurvivesARestartOfRedis) {
    RenewInstanceService service{registry, every(50ms)};
    service.start();
    registry.register_instance(ns, an_instance("order"));
    server().kill();
    server().start();
    RedisClient fresh{server()};
    EXPECT_TRUE(eventually([&] { return fresh.must({"EXISTS", key(id)}).integer == 1; }));
    service.stop();
}

TEST_F(Renewing, Defect29_OneFailureStopsNoOther) {
    registry.register_instance(ns, an_instance("order"));
    registry.register_instance(ns, an_instance("order", 81));
    auto const odd = id_of("order", 81);
    redis().must({"DEL", key(odd)});
    redis().must({"SET", key(odd), "x", "EX", "60"});
    redis().must({"PEXPIRE", key(id), "1500"});
    RenewInstanceService service{registry, every(50ms)};
    service.start();
    EXPECT_TRUE(eventually([&] { return redis().must({"PTTL", key(id)}).integer > 2'500; }));
    service.stop();
}

}  // namespace
}  // namespace rollcall::cosky::test
