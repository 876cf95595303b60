// Registers, finds and deregisters an instance, and meets an error of the library.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#include "rollcall/streaming.hpp"

namespace {

void expect(bool condition, char const* what) {
    if (condition) return;
    std::fprintf(stderr, "not so: %s\n", what);
    std::exit(1);
}

void use_service() {
    rollcall::Client client;
    rollcall::streaming::RedisNamingService naming{client};
    naming.start();
    rollcall::ServiceInstance const orders{.service_name = "orders",
                                           .instance_id = "orders-1",
                                           .host = "10.0.0.5",
                                           .port = 8080,
                                           .metadata = {{"zone", "eu-1"}}};
    expect(!naming.register_instance(orders).existed, "a new instance");
    expect(naming.send_heartbeat(orders) == rollcall::streaming::HeartbeatResult::alive,
           "its heartbeat is written");
    auto const found = naming.discover_healthy("orders");
    expect(found.size() == 1 && found.front() == orders, "it is found as it was registered");
    expect(uri(found.front()) == "http://10.0.0.5:8080", "its address");
    expect(naming.deregister_instance(orders).existed, "it was there until now");
    expect(naming.all_instances("orders").empty(), "nothing is left");
}

void meet_errors() {
    rollcall::Client client{rollcall::ClientOptions{
        .url = "unix:///nobody/listens", .request_timeout = std::chrono::milliseconds{50}}};
    rollcall::streaming::RedisServiceConsumer consumer{client};
    consumer.start();
    bool caught = false;
    try {
        consumer.all_instances("orders");
    } catch (rollcall::Error const& error) {
        caught = error.code() == rollcall::errc::not_connected;
    }
    expect(caught, "an absent Redis is an Error");

    caught = false;
    try {
        consumer.all_instances("");
    } catch (std::invalid_argument const&) {
        caught = true;
    }
    expect(caught, "an empty name is an invalid argument");
}

}  // namespace

int main() {
    use_service();
    meet_errors();
}
