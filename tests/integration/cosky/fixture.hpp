#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "integration/redis/fixture.hpp"
#include "support/log_book.hpp"
#include "support/redis_server.hpp"

#include "rollcall/cosky.hpp"

namespace rollcall::cosky::test {

using namespace std::chrono_literals;
using rollcall::test::connect_to;
using rollcall::test::eventually;
using rollcall::test::Listener;
using rollcall::test::LogBook;
using rollcall::test::RedisClient;
using rollcall::test::RedisServer;
using rollcall::test::WithRedis;

inline std::string const ns{Namespaced::default_namespace};

inline std::string id_of(std::string const& service, int port = 80) {
    return service + "@http#10.0.0.5#" + std::to_string(port);
}

inline ServiceInstance an_instance(std::string service, int port = 80) {
    ServiceInstance result;
    result.service_name = std::move(service);
    result.host = "10.0.0.5";
    result.port = port;
    return result;
}

/// A server with one client of the code under test.
class CoskyTest : public WithRedis {
protected:
    RedisClient& redis() { return admin; }

    /// `channel ← payload`, without the namespace in front of the channel, in order.
    std::vector<std::string> heard() {
        std::vector<std::string> result;
        for (auto const& message : listener.drain()) {
            auto channel = message.channel;
            if (channel.starts_with(ns + ":")) channel.erase(0, ns.size() + 1);
            result.push_back(channel + " ← " + message.payload);
        }
        return result;
    }
    std::vector<std::string> keys() { return rollcall::test::keys_beside_epoch(admin, ns); }
    std::int64_t redis_seconds() { return std::stoll(redis().must({"TIME"}).texts().at(0)); }
    std::string field(std::string const& id, std::string const& name) {
        return redis().must({"HGET", DiscoveryKeyGenerator::instance_key(ns, id), name}).text;
    }
    long long ttl(std::string const& id) {
        return redis().must({"TTL", DiscoveryKeyGenerator::instance_key(ns, id)}).integer;
    }

    ClientOptions options() {
        ClientOptions result;
        result.url = server().url();
        result.log = log.callback();
        return result;
    }

    LogBook log;
    Client client{options()};
    Listener listener{server()};
};

}  // namespace rollcall::cosky::test
