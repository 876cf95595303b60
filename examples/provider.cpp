// Registers this process as an instance of "orders" until it is told to stop.
#include <csignal>
#include <ctime>

#include "rollcall/streaming.hpp"

int main() {
    sigset_t stop;
    sigemptyset(&stop);
    sigaddset(&stop, SIGINT);
    sigaddset(&stop, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &stop, nullptr);

    rollcall::Client client;  // $ROLLCALL_URL, or the Redis of this machine
    rollcall::streaming::RedisServiceProvider provider{client};
    provider.start();

    rollcall::ServiceInstance const orders{.service_name = "orders",
                                           .instance_id = "orders-1",
                                           .host = "127.0.0.1",
                                           .port = 8080,
                                           .metadata = {{"zone", "eu-1"}}};
    provider.register_instance(orders);
    timespec const pause{.tv_sec = 10, .tv_nsec = 0};
    while (sigtimedwait(&stop, nullptr, &pause) < 0) provider.send_heartbeat(orders);
    provider.deregister_instance(orders);
}
