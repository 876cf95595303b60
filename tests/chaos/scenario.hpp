#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "chaos/fault_proxy.hpp"
#include "chaos/owner.hpp"
#include "chaos/truth.hpp"
#include "support/redis_server.hpp"

#include "rollcall/registry.hpp"

namespace rollcall::chaos {

struct ScenarioOptions {
    Fleet fleet = {};
    std::chrono::milliseconds length{45'000};  ///< At least; until everything happened once.
    std::uint64_t seed = 1;
    int services = 30;
    int owners = 20;  ///< Each has an instance of every service; a fourth play recorded programs.
    std::size_t readers = 3;
    bool verbose = false;
};

/// What a run found beside what readers showed.
struct Outcome {
    Figures figures = {};
    Seconds noticed_max{0};  ///< That a connection of ours stopped answering.
    std::size_t noticed = 0;
    std::size_t held_up = 0;  ///< So many of them by processes that had to wait for a processor.
    Seconds back_max{0};      ///< From when it could be made until all were.
    std::size_t conflicts = 0;
    std::size_t standstills = 0;  ///< Of Redis by itself: as if it had been down.
    std::map<std::string, std::size_t> happened = {};  ///< And did something; also what never did.
};

/// A fleet on one Redis, to which something happens every few seconds while readers are compared
/// with the truth.
class Scenario {
public:
    explicit Scenario(ScenarioOptions const& options);
    ~Scenario();

    /// Errors: `std::runtime_error` when the fleet does not come up.
    Outcome run();

private:
    using Random = std::mt19937_64;
    struct Place {
        int number;
        bool present;
    };
    struct Member {
        Owner owner;
        std::vector<Place> places;  // By service.
    };
    struct Vacancy {
        Member* member;
        int service;
    };
    struct Reader {
        explicit Reader(std::string const& url) : client(url) {}
        Client client;
        std::vector<Service> services = {};
        std::vector<bool> loaded = {};  // By service: it has a last good answer.
    };
    /// Something that can happen. Says whether it did.
    struct Kind {
        char const* name = "";
        bool (Scenario::*happen)() = nullptr;
        bool must = true;  ///< In every run.
    };
    static std::span<Kind const> faults();   ///< One at a time.
    static std::span<Kind const> changes();  ///< At any time.

    void hire(OwnerKind kind);
    void dismiss(std::size_t member);
    std::unique_ptr<Reader> open_reader() const;
    void await_all();
    void listen();
    void hear(std::string const& line);
    void sample();
    void sample(std::size_t reader);
    void look_at_leases();
    bool see_leases();  ///< Whether Redis answered.
    bool paths_are_clean();
    void pass(std::chrono::milliseconds time);
    void note(std::string const& what);
    void note_growth(Seconds& noted, Seconds figure, std::string const& what, std::size_t reader);
    void happen(Kind const& kind);
    static int any(Random& random, int below);
    Member& any_member(Random& random);
    std::string service_name(int number) const { return "service" + std::to_string(number); }
    std::string id_at(Member const& member, int service) const;

    // What happens.
    bool restart_with_data();
    bool restart_empty();
    bool long_outage();
    bool cut_readers();
    bool cut_owners();
    bool half_open_readers();
    bool half_open_owners();
    bool delay();
    bool flush_scripts();
    bool kill_pubsub_clients();
    bool kill_normal_clients();
    bool flush_all();
    bool delete_one_hash();
    bool kill_owner();
    bool restart_peer();
    bool leave();
    bool join();
    bool come_back();
    bool change_metadata();
    bool replace_reader();

    std::optional<Vacancy> any_vacancy();
    bool fill(Vacancy const& vacancy, int number);
    bool be_silent(std::span<FaultProxy* const> proxies);
    bool kill_clients(char const* type);
    void data_lost();
    void start_server();

    ScenarioOptions const options_;
    // What changes depends on what was acknowledged until then: the order of faults must not.
    Random random_;
    Random changing_;
    test::RedisServer server_;
    FaultProxy to_owners_{server_.socket()};
    FaultProxy to_peers_{server_.socket()};
    FaultProxy to_readers_{server_.socket()};
    Truth truth_;
    std::vector<std::unique_ptr<Member>> members_;
    std::vector<std::pair<std::string, std::string>> dismissed_;  // Service and id, while stored.
    std::vector<std::unique_ptr<Reader>> readers_;
    Outcome outcome_;
    int next_number_ = 0;
    int looks_ = 0;
    Seconds noted_hidden_{0};
    Seconds noted_lingering_{0};
    Seconds noted_unpromised_{0};
    bool broken_ = false;  // Redis is down, or a path.
    bool standing_still_ = false;
    Time seen_at_;  // Redis.
    Time started_;
};

}  // namespace rollcall::chaos
