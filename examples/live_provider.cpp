// Keeps this process registered as an instance of "orders" until it is told to stop.
#include <csignal>
#include <cstdio>

#include "rollcall/registry.hpp"

int main() try {
    sigset_t stop;
    sigemptyset(&stop);
    for (int const number : {SIGINT, SIGTERM}) sigaddset(&stop, number);
    pthread_sigmask(SIG_BLOCK, &stop, nullptr);

    rollcall::Client client;  // $ROLLCALL_URL, or the Redis of this machine
    rollcall::Registry registry{client, rollcall::streaming_layout()};  // Or cosky_layout().
    rollcall::ServiceInstance const instance{
        .service_name = "orders", .instance_id = "orders-1", .host = "127.0.0.1", .port = 8080};
    auto orders = registry.announce(instance);  // Redis may be away, now and later.

    int signal = 0;
    sigwait(&stop, &signal);
    std::error_code failure;
    orders.drain(std::chrono::milliseconds{500}, failure);  // Then nobody calls it any more.
} catch (std::exception const& error) {
    std::fprintf(stderr, "provider: %s\n", error.what());
    return 1;
}
