#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "model/feed/fingerprint.hpp"
#include "model/feed/scene.hpp"

namespace rollcall::test::feed {

inline constexpr std::size_t most_instances = 3;
inline constexpr std::array<std::string_view, most_instances> ids{"a", "b", "c"};

using Version = std::uint8_t;

enum class Owner : std::uint8_t { none, alive, deregistered, dead };

/// One instance: what Redis holds of it, and its owner.
struct Record {
    Owner owner = Owner::none;
    bool persistent = false;
    bool listed = false;         ///< On the list of the service.
    bool stored = false;         ///< It has a Hash.
    Version version = 0;         ///< Of the description that its owner wants to be known.
    Version stored_version = 0;  ///< Of that in Redis.
    Version born = 0;            ///< The first of this owner.
    bool removed = false;        ///< By an operator, which its owner has not noticed yet.
    std::uint8_t writes = 0;     ///< How often it was registered or described.
    bool odd = false;            ///< Its key holds something else, without a lease (CoSky).
    bool damaged = false;        ///< Redis lost something of it since it was last written.
    Time lease_end = Time::max();
    Time acknowledged_until = Time::min();  ///< The last lease that its owner knows of.
    Time renew_at = Time::max();

    bool lives() const { return owner == Owner::alive && !removed; }
};

/// The connection on which messages come.
struct Push {
    enum class Link : std::uint8_t { broken, down, connected, subscribed };
    enum class Kind : std::uint8_t { confirmation, pong, invalidation, message };
    struct Item {
        Kind kind;
        std::uint8_t who;
        News news;
    };

    Link link = Link::down;
    std::string queue;  ///< One byte each: short strings need no memory of their own.

    void send(Kind kind, std::size_t who = 0, News news = {});
    Item front() const { return item(queue.front()); }
    static Item item(char byte);
};

/// Redis, with one service, and the owners of its instances.
class Server {
public:
    Server(Scene const& scene, Time now);

    // Of owners. Each is one atomic step that leaves a message.
    void register_instance(std::size_t i, Time now, Push& push);
    void describe(std::size_t i, Time now, Push& push);
    void deregister(std::size_t i, Push& push);
    void die(std::size_t i);
    void renew(std::size_t i, Time now, Push& push);

    // Of others.
    void remove(std::size_t i, Push& push);  ///< By an operator.
    bool may_sweep(std::size_t i, Time now) const;
    /// False: a message should have been left, and could not be heard.
    bool sweep(std::size_t i, Push& push);

    // What happens to Redis.
    void lose_everything(Push& push);
    void restart();  ///< With its data.
    void evict_hash(std::size_t i);
    void evict_entry(std::size_t i);
    void overwrite(std::size_t i);  ///< Its key, with something of another type.

    Record const& operator[](std::size_t i) const { return records_[i]; }
    bool has_hash(std::size_t i, Time now) const;
    bool serves(std::size_t i, Time now) const { return records_[i].listed && has_hash(i, now); }
    Presence presence(std::size_t i, bool listed, bool described, Time now) const;
    std::optional<GenerationNumber> generation() const;
    bool ever_damaged() const { return ever_damaged_; }
    void add_to(Fingerprint& fingerprint) const;

private:
    void write(std::size_t i, Time now, Push& push);
    void damage(Record& record);

    Layout layout_;
    bool tracking_;
    std::size_t size_;
    std::array<Record, most_instances> records_;
    std::uint8_t generation_ = 1;  ///< 0: the key of the epoch is gone.
    std::uint8_t generations_ = 1;
    bool ever_damaged_ = false;
};

}  // namespace rollcall::test::feed
