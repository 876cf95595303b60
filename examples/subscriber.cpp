// Prints what changes about the instances of "orders" until it is told to stop.
#include <csignal>
#include <cstdio>
#include <iostream>

#include "rollcall/streaming.hpp"

int main() try {
    sigset_t stop;
    sigemptyset(&stop);
    for (int const number : {SIGINT, SIGTERM}) sigaddset(&stop, number);
    pthread_sigmask(SIG_BLOCK, &stop, nullptr);

    rollcall::Client client;  // $ROLLCALL_URL, or the Redis of this machine
    rollcall::streaming::RedisServiceConsumer consumer{client};
    consumer.start();
    auto const printer = rollcall::streaming::make_service_change_listener(
        [](auto service, auto action, auto const* instance, auto const& instances) {
            std::cout << service << ": " << value(action) << ' '
                      << (instance ? uri(*instance) : "somebody") << ", " << instances.size()
                      << " can be called" << std::endl;
        });
    consumer.subscribe("orders", printer);  // Redis may be away: then it begins later.
    int number = 0;
    sigwait(&stop, &number);
    consumer.unsubscribe("orders", printer);
} catch (std::exception const& error) {
    std::fprintf(stderr, "subscriber: %s\n", error.what());
    return 1;
}
