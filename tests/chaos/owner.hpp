#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

#include "rollcall/layout.hpp"

namespace rollcall::chaos {

/// What all processes of a run share.
struct Fleet {
    std::string layout = "streaming";
    std::chrono::milliseconds lease{6'000};
    std::chrono::milliseconds heartbeat{1'500};

    Layout make_layout() const;
    std::string space() const { return layout == "cosky" ? "{chaos}" : "chaos"; }
};

/// Ours, or the layout's recorded program: of those the Java module never registers again.
enum class OwnerKind { announcer, recorded };

/// A process that owns instances; killed with this object.
class Owner {
public:
    Owner(Fleet const& fleet, std::string const& url, OwnerKind kind);
    ~Owner();
    Owner(Owner&&) noexcept;
    Owner& operator=(Owner&&) = delete;

    /// `number` makes the port, and so the id.
    void add(std::string const& service, int number);
    void change(std::string const& service, int number, int value);
    void remove(std::string const& service, int number);
    void kill();

    OwnerKind kind() const noexcept { return kind_; }
    /// What it said since, in whole lines: `registered SERVICE ID NANOSECONDS`, and so `released`,
    /// `abandoned` (never to be registered again), `lapsed` (to be registered again) or `conflict`.
    std::vector<std::string> said();

private:
    void send(std::string const& line) const;

    OwnerKind kind_;
    pid_t pid_ = -1;
    int input_ = -1;
    int output_ = -1;
    std::string rest_;
};

/// The port and the id that an owner's instance gets.
int port_of(int number);
std::string id_of(Fleet const& fleet, std::string const& service, int number);
/// Where it is stored.
std::string key_of(Fleet const& fleet, std::string const& service, std::string const& id);

/// What the process does: obeys lines of its standard input until that ends.
int run_owner(Fleet const& fleet, std::string const& url, OwnerKind kind);

}  // namespace rollcall::chaos
