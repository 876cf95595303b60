#pragma once

#include <boost/json/value.hpp>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "integration/redis/fixture.hpp"
#include "redis/script.hpp"
#include "support/log_book.hpp"
#include "support/redis_server.hpp"

#include "rollcall/streaming.hpp"

namespace rollcall::streaming::test {

using namespace std::chrono_literals;
using rollcall::test::connect_to;
using rollcall::test::eventually;
using rollcall::test::Listener;
using rollcall::test::LogBook;
using rollcall::test::RedisClient;
using rollcall::test::RedisServer;
using rollcall::test::WithRedis;

inline constexpr std::string_view prefix = "redis_streaming_registry";

inline std::string index_key() { return std::string{prefix} + ":services"; }
inline std::string heartbeats_key(std::string const& service) {
    return index_key() + ":" + service + ":heartbeats";
}
inline std::string instance_key(std::string const& service, std::string const& id) {
    return index_key() + ":" + service + ":instance:" + id;
}
inline std::string channel_of(std::string const& service) {
    return index_key() + ":" + service + ":changes";
}

/// Runs a script as a peer would.
RedisClient::Reply eval(RedisClient& redis, redis::Script const& script,
                        std::vector<std::string> const& keys,
                        std::vector<std::string> const& arguments);

/// The members `action`, `serviceName`, `instanceId` of a message and whether it has `instance`.
struct Told {
    std::string action;
    std::string service;
    std::string id;
    bool instance = false;
    friend bool operator==(Told const&, Told const&) = default;
};
std::ostream& operator<<(std::ostream& out, Told const& told);
std::vector<Told> told(std::vector<Listener::Message> const& messages);

inline ServiceInstance an_instance(std::string service, std::string id) {
    ServiceInstance result;
    result.service_name = std::move(service);
    result.instance_id = std::move(id);
    result.host = "10.0.0.5";
    result.port = 8080;
    return result;
}

std::vector<std::string> ids_of(Instances const& instances);

/// The cases of `tests/data/streaming/<file>.json`.
std::vector<boost::json::object> cases(std::string_view file);

/// For what `ClientCore::run` can run.
template <class T>
Task<Result<T>> as_result(Task<T> task) {
    co_return co_await std::move(task);
}

/// Fit for the name of a test.
std::string test_name(boost::json::object const& vector);

/// A server with one client of the code under test.
class StreamingTest : public WithRedis {
protected:
    RedisClient& redis() { return admin; }
    std::vector<Told> heard() { return told(listener.drain()); }
    std::vector<std::string> keys() { return rollcall::test::keys_beside_epoch(admin, prefix); }
    long long redis_now();  ///< Milliseconds.
    /// As a peer might have, heard of `age` milliseconds ago; no fields: its Hash has expired.
    void store(std::string const& service, std::string const& id, long long age,
               std::vector<std::string> const& fields);

    ClientOptions options() {
        ClientOptions result;
        result.url = server().url();
        result.log = log.callback();
        return result;
    }

    LogBook log;
    Client client{options()};
    Listener listener{server(), std::string{prefix} + "*"};
};

}  // namespace rollcall::streaming::test
