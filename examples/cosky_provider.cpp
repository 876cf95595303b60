// Keeps this process registered beside CoSky's programs until it is told to stop.
#include <csignal>
#include <cstdio>

#include "rollcall/cosky.hpp"

int main() try {
    sigset_t stop;
    sigemptyset(&stop);
    for (int const number : {SIGINT, SIGTERM}) sigaddset(&stop, number);
    pthread_sigmask(SIG_BLOCK, &stop, nullptr);

    rollcall::Client client;  // $ROLLCALL_URL, or the Redis of this machine
    rollcall::cosky::RedisServiceRegistry registry{client};
    rollcall::cosky::RenewInstanceService heartbeats{registry};
    heartbeats.start();
    auto const ns = rollcall::cosky::Namespaced::default_namespace;
    rollcall::ServiceInstance const orders{
        .service_name = "orders", .host = "127.0.0.1", .port = 8080};
    std::error_code failure;  // Redis may be away: then it is tried again.
    registry.register_instance(ns, orders, failure);
    for (timespec const pause{1, 0}; sigtimedwait(&stop, nullptr, &pause) < 0;) {
        if (failure) registry.register_instance(ns, orders, failure);
    }
    registry.deregister(ns, orders, failure);
} catch (std::exception const& error) {
    std::fprintf(stderr, "provider: %s\n", error.what());
    return 1;
}
