// Keeps this process registered as an instance of "orders" until it is told to stop.
#include <csignal>
#include <cstdio>

#include "rollcall/streaming.hpp"

int main() try {
    sigset_t stop;
    sigemptyset(&stop);
    for (int const number : {SIGINT, SIGTERM}) sigaddset(&stop, number);
    pthread_sigmask(SIG_BLOCK, &stop, nullptr);

    rollcall::Client client;  // $ROLLCALL_URL, or the Redis of this machine
    rollcall::streaming::RedisServiceProvider provider{client};
    provider.start();
    rollcall::ServiceInstance const orders{
        .service_name = "orders", .instance_id = "orders-1", .host = "127.0.0.1", .port = 8080};
    std::error_code failure;  // Redis may be away, now and later: then it is tried again.
    provider.register_instance(orders, failure);
    for (timespec const pause{1, 0}; sigtimedwait(&stop, nullptr, &pause) < 0;) {
        if (!failure) provider.send_heartbeat(orders);  // Sent when it is due.
        if (failure) provider.register_instance(orders, failure);
    }
    provider.deregister_instance(orders, failure);
} catch (std::exception const& error) {
    std::fprintf(stderr, "provider: %s\n", error.what());
    return 1;
}
