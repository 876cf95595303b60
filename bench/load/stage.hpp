#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/process.hpp"
#include "load/redis_benchmark.hpp"
#include "redis/client_core.hpp"
#include "registry/layout_port.hpp"
#include "support/redis_server.hpp"

#include "rollcall/client.hpp"
#include "rollcall/cosky/namespaced.hpp"

namespace rollcall::bench {

/// How the instances are stored.
enum class Layout { streaming, cosky };

/// What work is divided by: the numbers of operations, and random draws. The I/O thread only.
class Tickets {
public:
    explicit Tickets(std::size_t count) : left_(count) {}

    bool take() {
        if (left_ == 0) return false;
        --left_;
        return true;
    }
    std::size_t draw(std::size_t below) { return random_() % below; }

private:
    std::size_t left_;
    std::minstd_rand random_{1};
};

/// What a piece of work cost.
struct Lap {
    std::chrono::duration<double> time{0};
    Microseconds redis_cpu{0};
    Microseconds client_cpu{0};
};

/// Where `Layout::cosky` has its keys.
inline constexpr std::string_view cosky_namespace = cosky::Namespaced::default_namespace;

/// Twelve digits, as redis-benchmark makes them: what tells the instances apart.
std::string digits_of(std::size_t number);

/// What takes part: a Redis, which it empties, the library as the program uses it, and one service
/// whose instances differ in twelve digits only: their ids in one layout, their hosts, which are
/// part of their ids, in the other.
class Stage {
public:
    static constexpr std::size_t instance_count = 1'000;
    /// Of operations. Redis is busy all the time from about half of this on.
    static constexpr std::size_t in_flight = 256;

    Stage(test::RedisServer const& server, Layout layout);

    test::RedisServer const& server() const noexcept { return server_; }
    test::RedisClient& redis() noexcept { return redis_; }
    LayoutPort& port() noexcept { return *port_; }
    Client const& client() const noexcept { return client_; }
    redis::ClientCore& core() noexcept { return *client_.core(); }
    Deadline deadline() { return core().deadline(); }

    std::vector<InstanceId> const& ids() const noexcept { return ids_; }
    ServiceInstance instance(std::size_t number) const;  ///< Of any number.
    std::string key(std::size_t number) const;           ///< Of the instance's Hash.
    std::string index_key() const;                       ///< Of what lists the ids.

    /// Works on `tickets` on the I/O thread; called there, it may be a lambda with captures, as it
    /// is no coroutine itself.
    using Worker = std::function<Task<void>(Tickets&)>;

    /// Runs `workers` coroutines side by side until so many tickets are taken and all have ended.
    /// Throws what the first of them threw.
    void run(std::size_t workers, std::size_t tickets, Worker const& worker);

    /// Runs one call of the port to its end. Throws when it failed.
    template <class Make>
    auto must_run(Make&& make) {
        return std::move(core().run(make)).value();
    }

    /// Registers all instances.
    void fill();

    /// Measures `work`, which blocks. Throws when Redis refused a command meanwhile.
    Lap measure(std::function<void()> const& work);

    /// The script call that `work` sends first, as redis-benchmark takes it: the instance's digits
    /// replaced by random ones wherever they stand. The script must be known to Redis already.
    Command captured_script_call(std::size_t number, std::function<void()> const& work);

private:
    struct RedisState {
        Microseconds cpu{0};
        double refused = 0;
    };
    RedisState redis_state();

    Layout layout_;
    test::RedisServer const& server_;
    test::RedisClient redis_;
    Client client_;
    std::unique_ptr<LayoutPort> port_;
    std::vector<InstanceId> ids_;
};

}  // namespace rollcall::bench
