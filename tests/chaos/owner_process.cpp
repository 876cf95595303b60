#include <csignal>
#include <map>
#include <poll.h>
#include <sstream>
#include <sys/prctl.h>
#include <unistd.h>
#include <utility>

#include "chaos/owner.hpp"
#include "support/recorded_peer.hpp"

#include "rollcall/registry.hpp"

namespace rollcall::chaos {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using Key = std::pair<std::string, int>;  // Service and number.

constexpr auto host = "10.0.0.5";

void say(std::string_view what, std::string const& service, std::string const& id) {
    auto const now = Clock::now().time_since_epoch();
    auto const nanoseconds = std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
    auto const line =
        std::string{what} + ' ' + service + ' ' + id + ' ' + std::to_string(nanoseconds) + '\n';
    (void)!::write(STDOUT_FILENO, line.data(), line.size());
}

/// What both do: obey, and let time pass.
class Instances {
public:
    Instances() = default;
    virtual ~Instances() = default;
    Instances(Instances const&) = delete;
    Instances& operator=(Instances const&) = delete;

    virtual void add(std::string const& service, int number) = 0;
    virtual void change(std::string const& service, int number, int value) = 0;
    virtual void remove(std::string const& service, int number) = 0;
    virtual void pass() {}
};

/// Announces what it is told to.
class Announcing final : public Instances {
public:
    Announcing(Fleet const& fleet, std::string const& url)
        : fleet_(fleet), client_(url), registry_(client_, fleet.make_layout(), options(fleet)) {}

    void add(std::string const& service, int number) override {
        ServiceInstance instance;
        instance.service_name = service;
        instance.instance_id = id_of(fleet_, service, number);
        instance.host = host;
        instance.port = port_of(number);
        instance.metadata = {{"value", "0"}};
        AnnounceOptions given;
        given.on_event = [service, id = instance.instance_id](AnnouncementEvent event) {
            if (event == AnnouncementEvent::registered) say("registered", service, id);
            if (event == AnnouncementEvent::conflict) say("conflict", service, id);
        };
        mine_.insert_or_assign({service, number}, registry_.announce(instance, given));
    }
    void change(std::string const& service, int number, int value) override {
        auto const found = mine_.find({service, number});
        if (found == mine_.end()) return;
        found->second.update_metadata({{"value", std::to_string(value)}});
    }
    void remove(std::string const& service, int number) override {
        auto const found = mine_.find({service, number});
        if (found == mine_.end()) return;
        std::error_code error;
        auto const id = found->second.instance().instance_id;
        found->second.release(error);
        say(error ? "abandoned" : "released", service, id);
        mine_.erase(found);
    }

private:
    static RegistryOptions options(Fleet const& fleet) {
        RegistryOptions result;
        result.heartbeat = fleet.heartbeat;
        return result;
    }

    Fleet const fleet_;
    Client client_;
    Registry registry_;
    std::map<Key, Announcement> mine_;
};

/// Plays the layout's recorded program. Its periods are those of the program, as parts of the
/// lease: the Java module's starter renews every 30 of 90 s, and cleans up every 30 after the first
/// 60; CoSky renews every 10 of 60 s.
class Playing final : public Instances {
public:
    Playing(Fleet const& fleet, std::string const& url)
        : fleet_(fleet),
          is_java_(fleet.layout != "cosky"),
          socket_(url.substr(url.find("//") + 2)),
          period_(fleet.lease / (is_java_ ? 3 : 6)),
          beat_at_(Clock::now() + period_),
          clean_at_(Clock::now() + fleet.lease * 2 / 3) {
        std::signal(SIGPIPE, SIG_IGN);
    }

    void add(std::string const& service, int number) override {
        test::PeerInstance const instance{
            .service = service,
            .id = id_of(fleet_, service, number),
            .host = host,
            .port = port_of(number),
            .metadata = {{"value", "0"}},
        };
        bool const done = with_peer([&](auto& peer) { peer.enter(instance); });
        // Neither tries again. It may be stored all the same: then its lease ends it.
        say(done ? "registered" : "abandoned", service, instance.id);
        if (done) mine_.insert_or_assign({service, number}, Mine{instance, Clock::now()});
    }

    void change(std::string const& service, int number, int value) override {
        auto const found = mine_.find({service, number});
        if (found == mine_.end()) return;
        found->second.instance.metadata = {{"value", std::to_string(value)}};
        with_peer([&](auto& peer) { peer.describe(found->second.instance); });
    }

    void remove(std::string const& service, int number) override {
        auto const found = mine_.find({service, number});
        if (found == mine_.end()) return;
        auto const instance = found->second.instance;
        mine_.erase(found);
        bool const done = with_peer([&](auto& peer) { peer.leave(instance); });
        say(done ? "released" : "abandoned", service, instance.id);
    }

    void pass() override {
        if (Clock::now() >= beat_at_) {
            // The recorded programs' clients connect again at once, or nearly so.
            bool const done = with_peer([&](auto& peer) { beat(peer); });
            beat_at_ = Clock::now() + (done ? period_ : milliseconds{200});
        }
        if (Clock::now() >= clean_at_) {
            clean_at_ = Clock::now() + fleet_.lease / 3;
            with_peer([](auto& peer) { peer.clean(); });
        }
        for (auto& [key, one] : mine_) {
            if (Clock::now() - one.renewed_at > fleet_.lease) lose(one, "lapsed");
        }
    }

private:
    struct Mine {
        test::PeerInstance instance;
        Clock::time_point renewed_at;
        std::string told = {};  ///< How it was lost.
    };

    template <class Call>
    bool with_peer(Call const& call) try {
        if (!peer_) {
            auto const lease = std::chrono::duration_cast<std::chrono::seconds>(fleet_.lease);
            peer_ = test::make_recorded_peer(
                fleet_.layout, {.socket = socket_, .space = fleet_.space(), .lease = lease});
        }
        call(*peer_);
        return true;
    } catch (std::runtime_error const&) {
        peer_.reset();
        return false;
    }

    void beat(test::RecordedPeer& peer) {
        using Renewal = test::RecordedPeer::Renewal;
        for (auto& [key, one] : mine_) {
            auto const renewal = peer.renew(one.instance);
            if (renewal == Renewal::gone || !is_described(peer, one.instance)) {
                lose(one, "abandoned");
                continue;  // And goes on to renew what is not there.
            }
            one.renewed_at = Clock::now();
            bool const told = !one.told.empty() || renewal == Renewal::registered_again;
            one.told.clear();
            if (told) say("registered", one.instance.service, one.instance.id);
        }
    }

    /// Whether what was renewed is more than the rest that a clean-up of the Java module leaves.
    /// The program itself does not ask.
    bool is_described(test::RecordedPeer& peer, test::PeerInstance const& instance) const {
        if (!is_java_) return true;
        return peer.ask({"HEXISTS", key_of(fleet_, instance.service, instance.id), "host"})
                   .integer == 1;
    }

    static void lose(Mine& one, std::string_view how) {
        if (one.told == how || one.told == "abandoned") return;
        one.told = how;
        say(how, one.instance.service, one.instance.id);
    }

    Fleet const fleet_;
    bool const is_java_;
    std::string const socket_;
    milliseconds const period_;
    Clock::time_point beat_at_;
    Clock::time_point clean_at_;
    std::unique_ptr<test::RecordedPeer> peer_;
    std::map<Key, Mine> mine_;
};

void obey(Instances& instances, std::string const& line) {
    std::istringstream words{line};
    std::string what;
    std::string service;
    int number = 0;
    int value = 0;
    words >> what >> service >> number >> value;
    if (what == "add") instances.add(service, number);
    if (what == "change") instances.change(service, number, value);
    if (what == "remove") instances.remove(service, number);
}

int serve(Instances& instances) {
    std::string pending;
    for (;;) {
        pollfd waiting{STDIN_FILENO, POLLIN, 0};
        int const ready = ::poll(&waiting, 1, 20);
        instances.pass();
        if (ready <= 0) continue;
        char buffer[4'096];
        auto const size = ::read(STDIN_FILENO, buffer, sizeof buffer);
        if (size <= 0) return 0;
        pending.append(buffer, static_cast<std::size_t>(size));
        for (auto end = pending.find('\n'); end != std::string::npos; end = pending.find('\n')) {
            obey(instances, pending.substr(0, end));
            pending.erase(0, end + 1);
        }
    }
}

}  // namespace

int run_owner(Fleet const& fleet, std::string const& url, OwnerKind kind) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (kind == OwnerKind::recorded) {
        Playing instances{fleet, url};
        return serve(instances);
    }
    Announcing instances{fleet, url};
    return serve(instances);
}

}  // namespace rollcall::chaos
