#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/golden.hpp"

#include "rollcall/instance.hpp"

namespace rollcall::test {

/// Everything that the streaming layout keeps in Redis for one prefix.
struct RegistryState {
    struct Hash {
        std::map<std::string, std::string> fields;
        long long ttl = 0;  ///< Seconds that were set last; 0: none.

        friend bool operator==(Hash const&, Hash const&) = default;
    };
    using InstanceName = std::pair<std::string, std::string>;  ///< Service and id.

    std::set<std::string> index;
    std::map<std::string, std::map<std::string, double>> heartbeats;  ///< By service and id.
    std::map<InstanceName, Hash> hashes;
};

/// What the layout does, written down from its specification, in memory: no Redis, no Lua, nothing
/// of the code under test but its value types.
///
/// Times are milliseconds since the epoch; TTLs are seconds, 0 for none. Names are as stored.
class ReferenceModel {
public:
    using Message = golden::Message;
    using Filters = std::vector<std::pair<std::string, std::string>>;

    explicit ReferenceModel(std::string prefix) : prefix_(std::move(prefix)) {}

    RegistryState const& state() const noexcept { return state_; }
    std::vector<Message> const& messages() const noexcept { return messages_; }
    /// Those since the last call, which it keeps no longer.
    std::vector<Message> take_messages() { return std::exchange(messages_, {}); }

    /// Whether it was there before. An empty host stands for none.
    bool register_instance(ServiceInstance const& instance, long long now, long long ttl);
    bool deregister(ServiceInstance const& instance, long long now);

    /// Whether the instance is there. With a description a `metadata_update`, and announced.
    bool heartbeat(ServiceInstance const& instance, bool describing, long long now, long long ttl);

    /// What one service lost, in order; also what happened to its persistent instances.
    std::vector<std::string> cleanup(std::string const& service, long long now, long long timeout);

    /// Ids within the window, by score and id; `active` needs no Hash.
    std::vector<std::string> active(std::string const& service, long long now,
                                    long long timeout) const;
    std::vector<std::string> query(std::string const& service, long long now, long long timeout,
                                   Filters const& metadata, Filters const& metrics) const;
    /// All members whose Hash describes an instance, as readers see it.
    std::vector<ServiceInstance> instances(std::string const& service) const;

    /// The two scripts of our own: fields of an instance that is there, and removal of a Hash that
    /// describes none.
    bool update(std::string const& service, std::string const& id,
                std::map<std::string, std::string> const& fields, long long now);
    bool remove_phantom(std::string const& service, std::string const& id);
    /// What follows an update, as a step of its own.
    void announce_update(ServiceInstance const& instance, long long now);

    // What others do to the same Redis.

    void remove_hash(std::string const& service, std::string const& id);
    void set_ttl(std::string const& service, std::string const& id, long long ttl);
    void set_field(std::string const& service, std::string const& id, std::string const& field,
                   std::string const& value);
    void remove_field(std::string const& service, std::string const& id, std::string const& field);
    void add_member(std::string const& service, std::string const& id, double score);
    void add_to_index(std::string const& service);
    void remove_from_index(std::string const& service);

private:
    using Fields = std::map<std::string, std::string>;

    std::vector<std::string> ordered(std::string const& service) const;
    void remove_member(std::string const& service, std::string const& id);
    bool is_described(std::string const& service, std::string const& id) const;
    void announce(std::string_view action, std::string const& service, std::string const& id,
                  std::optional<ServiceInstance> const& instance, long long now);

    std::string prefix_;
    RegistryState state_;
    std::vector<Message> messages_;
};

/// Whether a stored JSON document meets all filters; none: there is no such field.
bool meets(std::optional<std::string> const& document, ReferenceModel::Filters const& filters);

/// The instance that fields describe; none where readers drop it. With `lenient`, as announcements
/// of removal take it: a malformed number is its default.
std::optional<ServiceInstance> instance_of_fields(std::string const& service, std::string const& id,
                                                  std::map<std::string, std::string> const& fields,
                                                  bool lenient);

/// Metadata as the register script stores it (`cjson`) and as a heartbeat does (`verbatim`).
std::string stored_metadata(Metadata const& metadata);
std::string verbatim_metadata(Metadata const& metadata);

/// A message as subscribers of the design's program accept it.
std::string message_text(std::string_view action, std::string const& service, std::string const& id,
                         std::optional<ServiceInstance> const& instance, long long timestamp);

}  // namespace rollcall::test
