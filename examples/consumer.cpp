// Prints the addresses of the instances of "orders" that may be called now.
#include <cstdio>

#include "rollcall/streaming.hpp"

int main() try {
    rollcall::Client client;  // $ROLLCALL_URL, or the Redis of this machine
    rollcall::streaming::RedisServiceConsumer consumer{client};
    consumer.start();
    for (auto const& instance : consumer.healthy_instances("orders")) {
        std::puts(uri(instance).c_str());
    }
} catch (std::exception const& error) {  // A malformed URL, or rollcall::Error: Redis is away.
    std::fprintf(stderr, "consumer: %s\n", error.what());
    return 1;
}
