// Prints the addresses of the instances of "orders"; while Redis cannot be reached, those that an
// earlier run saw. "saved_consumer DIRECTORY": where these are kept.
#include <cstdio>

#include "rollcall/registry.hpp"

int main(int argc, char** argv) try {
    if (argc != 2) return std::fputs("saved_consumer: one directory, please\n", stderr), 2;
    rollcall::Client client;  // $ROLLCALL_URL, or the Redis of this machine
    rollcall::RegistryOptions options;
    options.disk_snapshot.directory = argv[1];
    rollcall::Registry const registry{client, rollcall::streaming_layout(), options};
    auto const orders = registry.service("orders");
    for (auto const& instance : orders.instances()) std::puts(uri(instance).c_str());
    if (orders.stale()) std::puts("as they were");
} catch (std::exception const& error) {
    std::fprintf(stderr, "saved_consumer: %s\n", error.what());
    return 1;
}
