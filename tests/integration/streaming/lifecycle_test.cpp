#include <functional>
#include <future>
#include <gtest/gtest.h>
#include <thread>

#include "integration/streaming/fixture.hpp"

namespace rollcall::streaming::test {
namespace {

/// A service that is stopped by a thread of the program and by the log callback at the same time.
/// Shared with threads, as one that hangs cannot be joined.
template <class Service>
struct TwoStops : std::enable_shared_from_this<TwoStops<Service>> {
    explicit TwoStops(ClientOptions options) {
        options.log = [this](LogLevel, std::string_view) {
            if (!armed.exchange(false)) return;
            logging = true;
            // Until the other stop has got as far as it can without this thread.
            eventually([this] { return !service->is_running(); });
            service->stop();
            service->start();
            service->stop();
        };
        client = std::make_unique<Client>(std::move(options));
        service = std::make_unique<Service>(*client);
        service->start();
    }

    /// Both ended within the limit. `log_something` makes the I/O thread log, and waits for it.
    bool end(std::function<void(Service&)> log_something) {
        auto const ended = std::make_shared<std::promise<void>>();
        armed = true;
        std::thread{[self = this->shared_from_this(), ended, log_something] {
            std::thread other{[&] {
                eventually([&] { return self->logging.load(); });
                self->service->stop();
            }};
            log_something(*self->service);
            other.join();
            ended->set_value();
        }}.detach();
        return ended->get_future().wait_for(15s) == std::future_status::ready;
    }

    std::atomic<bool> armed = false;
    std::atomic<bool> logging = false;
    std::unique_ptr<Client> client;
    std::unique_ptr<Service> service;
};

class Lifecycle : public StreamingTest {
protected:
    template <class Service>
    void expect_both_end() {
        redis().must({"SET", instance_key("orders", "o-1"), "no hash"});
        auto const stops = std::make_shared<TwoStops<Service>>(options());
        EXPECT_TRUE(stops->end([](Service& service) {
            service.send_heartbeat(an_instance("orders", "o-1"));  // The I/O thread logs why not.
        }));
        EXPECT_TRUE(stops->logging);
        EXPECT_FALSE(stops->service->is_running());
    }
};

TEST_F(Lifecycle, AProviderIsStoppedByTheLogCallbackAndByAThread) {
    expect_both_end<RedisServiceProvider>();
}

TEST_F(Lifecycle, ANamingServiceIsStoppedByTheLogCallbackAndByAThread) {
    expect_both_end<RedisNamingService>();
}

TEST_F(Lifecycle, ManyThreadsStartAndStop) {
    ServiceProviderConfig config;
    config.cleanup_delay = 0ms;
    config.cleanup_period = 1ms;
    RedisServiceProvider provider{client, config};
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
        threads.emplace_back([&] {
            for (int i = 0; i < 50; ++i) {
                provider.start();
                provider.stop();
            }
        });
    }
    for (auto& thread : threads) thread.join();
    EXPECT_FALSE(provider.is_running());
    provider.start();
    store("orders", "dead", 100'000, {"host", "h", "port", "1", "ephemeral", "true"});
    EXPECT_TRUE(eventually([&] {
        return redis().must({"EXISTS", heartbeats_key("orders")}).integer == 0;
    })) << "housekeeping goes on after all that";
}

}  // namespace
}  // namespace rollcall::streaming::test
