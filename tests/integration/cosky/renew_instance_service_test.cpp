#include <atomic>
#include <csignal>
#include <gmock/gmock.h>
#include <mutex>
#include <thread>

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

TEST(RenewInstanceService, Defect30_JitterOnlyShortens) {
    Rounds registry;
    RenewInstanceService service{registry, every(20ms)};
    auto const start = std::chrono::steady_clock::now();
    service.start();
    ASSERT_TRUE(eventually([&] { return registry.rounds == 21; }));
    auto const took = std::chrono::steady_clock::now() - start;
    EXPECT_GE(took, 20 * 18ms - 20ms) << "no shorter than nine tenths";
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
    Rounds registry;
    registry.broken = true;
    RenewInstanceService service{registry, every(1ms)};
    service.start();
    EXPECT_TRUE(eventually([&] { return registry.rounds > 3; }));
}

class Renewing : public CoskyTest {
protected:
    std::string key(std::string const& of) { return DiscoveryKeyGenerator::instance_key(ns, of); }
    RedisServiceRegistry registry{client, {3s}};
    std::string const id = id_of("order");
};

TEST_F(Renewing, Defect1_ARenewalOfWhoeverAsksForOneIsPublishedInTime) {
    RedisServiceRegistry lasting{client};
    lasting.register_instance(ns, an_instance("order"));
    redis().must(
        {"HSET", key(id), "__last_renew_pub_ttl_at", std::to_string(redis_seconds() + 24)});
    heard();
    EXPECT_TRUE(lasting.renew(ns, an_instance("order")));
    EXPECT_THAT(heard(), testing::ElementsAre("svc_itc:" + id + " ← renew"));
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
