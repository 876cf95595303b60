// Prints the addresses of the instances of "orders" that CoSky's programs and ours have registered.
#include <cstdio>

#include "rollcall/cosky.hpp"

int main() try {
    rollcall::Client client;  // $ROLLCALL_URL, or the Redis of this machine
    rollcall::cosky::RedisServiceDiscovery discovery{client};
    auto const ns = rollcall::cosky::Namespaced::default_namespace;
    for (auto const& found : discovery.instances(ns, "orders")) {
        std::puts(uri(found.instance).c_str());
    }
} catch (std::exception const& error) {
    std::fprintf(stderr, "consumer: %s\n", error.what());
    return 1;
}
