#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/golden_state.hpp"

#include "rollcall/instance.hpp"

namespace rollcall::cosky::test {

namespace golden = rollcall::test::golden;

/// Written by renewals, when they are announced.
inline constexpr std::string_view renewal_field = "__last_renew_pub_ttl_at";

/// What a process that registers instances knows of itself.
struct Process {
    long long lease = 60;  ///< Seconds.
    bool reclaim_persistent = true;
    std::map<std::string, ServiceInstance> own = {};  ///< Its ephemeral instances by id.
};

/// An instance as readers find it.
struct FoundInstance {
    ServiceInstance instance;
    std::string ttl_at;  ///< A number, or a mark for the end of a lease.
};

/// What the CoSky layout does with one namespace, written down from its specification, in memory:
/// no Redis, no Lua, nothing of the code under test but its value types.
///
/// The keys are as recorded states are: what an operation writes of the time is a mark, or a TTL
/// that is set in the step. `adopt` puts in their place what really stands in Redis, so that later
/// decisions, which are made by the clock given, are exact.
///
/// Instances are as callers see them, with canonical ids.
class ReferenceModel {
public:
    using Message = golden::Message;
    using Ids = std::vector<std::string>;
    /// What a caller is told: none for a failure.
    using Told = std::optional<bool>;

    explicit ReferenceModel(std::string ns, std::vector<Process> processes)
        : ns_(std::move(ns)), processes_(std::move(processes)) {}

    golden::LiveKeys const& keys() const noexcept { return keys_; }
    std::vector<Message> const& messages() const noexcept { return messages_; }
    /// Those since the last call, which it keeps no longer.
    std::vector<Message> take_messages() { return std::exchange(messages_, {}); }
    Process const& process(std::size_t index) const { return processes_.at(index); }

    void set_clock(long long epoch_ms) noexcept { now_ = epoch_ms; }
    void adopt(golden::LiveKeys actual) { keys_ = std::move(actual); }

    // Where there is no Redis to adopt from.

    /// Makes times of the marks of the last operation, by the clock.
    void settle();
    /// Drops what has come to its end by the clock.
    void expire();

    // What becomes of an instance in a round of renewals.
    static constexpr char const* renewed = "renewed";
    static constexpr char const* registered_again = "registered again";
    static constexpr char const* reclaimed = "reclaimed";
    static constexpr char const* released = "released";
    static constexpr char const* failed = "failed";

    // The registry of a process.

    Told register_instance(std::size_t process, ServiceInstance const& instance);
    Told deregister(std::size_t process, std::string const& service, std::string const& id);
    Told renew(std::size_t process, ServiceInstance const& instance);
    /// The script alone, called every `period` seconds: nothing is registered again.
    bool renew_only(std::size_t process, ServiceInstance const& instance, long long period);
    /// Ids and what became of each.
    std::vector<std::pair<std::string, std::string>> renew_registered(std::size_t process,
                                                                      long long period);
    Told set_metadata(std::size_t process, std::string const& service, std::string const& id,
                      Metadata const& metadata, bool merge);
    bool set_service(std::string const& service);
    bool remove_service(std::string const& service);

    // Readers, who clean up.

    std::vector<FoundInstance> instances(std::string const& service);
    std::optional<FoundInstance> instance(std::string const& service, std::string const& id);
    /// Takes what has expired off the list and announces it; gives that.
    Ids clean_up(std::string const& service);
    /// What was removed of each service that lost something.
    std::map<std::string, Ids> sweep();
    void stat_all();
    void stat(std::string const& service);
    long long instance_count();
    /// Those that are numbers.
    std::map<std::string, std::string> service_stats() const;

    // What others do to the same Redis.

    void remove_hash(std::string const& id);
    void set_ttl(std::string const& id, long long seconds);  ///< 0: none.
    /// Only where there is a Hash.
    void set_field(std::string const& id, std::string const& field, std::string const& value);
    void remove_field(std::string const& id, std::string const& field);
    void make_headless(std::string const& id);  ///< A Hash with the system field alone.
    void make_text(std::string const& id);      ///< A key of another type.
    void list(std::string const& service, std::string const& id);
    void unlist(std::string const& service, std::string const& id);
    void add_service(std::string const& service);
    void forget_service(std::string const& service);
    void set_stat(std::string const& service, std::string const& value);

    std::string services_key() const { return ns_ + ":svc_idx"; }
    std::string stats_key() const { return ns_ + ":svc_stat"; }
    std::string list_key(std::string const& service) const {
        return ns_ + ":svc_itc_idx:" + service;
    }
    std::string hash_key(std::string const& id) const { return ns_ + ":svc_itc:" + id; }

private:
    enum class Lease { renewed, ending, persistent, missing, wrong_type };

    std::set<std::string> members(std::string const& key) const;
    bool add_member(std::string const& key, std::string const& member);
    bool remove_member(std::string const& key, std::string const& member);
    bool is_listed(std::string const& service, std::string const& id) const {
        return members(list_key(service)).contains(id);
    }
    /// Listed under the service, and described as one of it.
    bool belongs_to(std::string const& service, std::string const& id) const;
    golden::LiveKey* hash(std::string const& id);
    std::optional<FoundInstance> found(std::string const& id) const;

    void announce(std::string const& key, std::string payload) {
        messages_.push_back({key, std::move(payload)});
    }
    void count(std::string const& service);
    static std::string outcome_of(Lease lease, bool reclaims);
    Lease renew_hash(ServiceInstance const& instance, long long lease, long long tolerance);

    std::string ns_;
    std::vector<Process> processes_;
    golden::LiveKeys keys_;
    std::vector<Message> messages_;
    long long now_ = 0;
};

}  // namespace rollcall::cosky::test
