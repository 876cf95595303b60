// Prints the addresses of the instances of "orders", from a view that follows Redis by itself.
#include <cstdio>

#include "rollcall/registry.hpp"

int main() try {
    rollcall::Client client;  // $ROLLCALL_URL, or the Redis of this machine
    rollcall::Registry registry{client, rollcall::streaming_layout()};  // Or cosky_layout().
    auto const orders = registry.service("orders");
    for (auto const& instance : orders.instances()) std::puts(uri(instance).c_str());
} catch (rollcall::Error const& error) {  // Redis is away, say.
    std::fprintf(stderr, "consumer: %s (%s)\n", error.what(), error.detail().c_str());
    return 1;
} catch (std::exception const& error) {  // A malformed URL.
    std::fprintf(stderr, "consumer: %s\n", error.what());
    return 1;
}
