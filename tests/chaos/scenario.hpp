#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "chaos/fault_proxy.hpp"
#include "chaos/owner.hpp"
#include "chaos/truth.hpp"
#include "support/redis_server.hpp"

#include "rollcall/registry.hpp"

namespace rollcall::chaos {

struct ScenarioOptions {
    Fleet fleet = {};
    std::chrono::milliseconds length{45'000};
    std::uint64_t seed = 1;
    int services = 30;
    int owners = 20;  ///< Each has an instance of every service; a fourth of them are Java-like.
    std::size_t readers = 3;
    bool verbose = false;
};

/// A fleet on one Redis, to which something happens every few seconds while readers are compared
/// with the truth.
class Scenario {
public:
    explicit Scenario(ScenarioOptions const& options);
    ~Scenario();

    /// Errors: `std::runtime_error` when the fleet does not come up.
    Figures run();

private:
    struct Member {
        Owner owner;
        int const number;
        std::vector<bool> present;  // By service.
    };
    struct Reader {
        explicit Reader(std::string const& url) : client(url) {}
        Client client;
        std::vector<Service> services = {};
    };
    using Fault = void (Scenario::*)();

    void hire();
    void await_all();
    void listen();
    void sample();
    void pass(std::chrono::milliseconds time);
    void note(std::string const& what);
    void paths_broken_for(std::chrono::milliseconds more);
    int any(int below);
    Member& any_member();
    std::string service_name(int number) const { return "service" + std::to_string(number); }

    // What happens.
    void restart_with_data();
    void restart_empty();
    void long_outage();
    void cut_readers();
    void cut_owners();
    void half_open();
    void delay();
    void flush_scripts();
    void kill_clients();
    void flush_all();
    void delete_one_hash();
    void kill_owner();
    void join_and_leave();
    void change_metadata();

    ScenarioOptions const options_;
    std::mt19937_64 random_;
    test::RedisServer server_;
    FaultProxy to_owners_{server_.socket()};
    FaultProxy to_readers_{server_.socket()};
    Truth truth_;
    std::vector<std::unique_ptr<Member>> members_;
    std::vector<std::unique_ptr<Reader>> readers_;
    int next_number_ = 0;
    Time started_;
};

}  // namespace rollcall::chaos
