#include "chaos/owner.hpp"

#include <csignal>
#include <fcntl.h>
#include <map>
#include <poll.h>
#include <sstream>
#include <stdexcept>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

#include "redis/client_core.hpp"
#include "registry/layout_port.hpp"

#include "rollcall/registry.hpp"

namespace rollcall::chaos {
namespace {

constexpr int first_port = 10'000;

ServiceInstance instance_of(Fleet const& fleet, std::string const& service, int number) {
    ServiceInstance instance;
    instance.service_name = service;
    instance.instance_id = id_of(fleet, service, number);
    instance.host = "10.0.0.5";
    instance.port = first_port + number;
    instance.metadata = {{"value", "0"}};
    return instance;
}

void say(std::string_view what, std::string const& service, std::string const& id) {
    auto const now = std::chrono::steady_clock::now().time_since_epoch();
    auto const nanoseconds = std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
    auto const line =
        std::string{what} + ' ' + service + ' ' + id + ' ' + std::to_string(nanoseconds) + '\n';
    (void)!::write(STDOUT_FILENO, line.data(), line.size());
}

/// Announces what it is told to.
class Announcing {
public:
    Announcing(Fleet const& fleet, std::string const& url)
        : fleet_(fleet), client_(url), registry_(client_, fleet.make_layout(), options(fleet)) {}

    void add(std::string const& service, int number) {
        auto const instance = instance_of(fleet_, service, number);
        AnnounceOptions given;
        given.on_event = [service, id = instance.instance_id](AnnouncementEvent event) {
            if (event == AnnouncementEvent::registered) say("registered", service, id);
            if (event == AnnouncementEvent::conflict) say("conflict", service, id);
        };
        mine_.insert_or_assign({service, number}, registry_.announce(instance, given));
    }
    void change(std::string const& service, int number, int value) {
        mine_.at({service, number}).update_metadata({{"value", std::to_string(value)}});
    }
    void remove(std::string const& service, int number) {
        auto const found = mine_.find({service, number});
        if (found == mine_.end()) return;
        std::error_code error;
        auto const id = found->second.instance().instance_id;
        found->second.release(error);
        say(error ? "abandoned" : "released", service, id);
        mine_.erase(found);
    }
    void beat() {}

private:
    static RegistryOptions options(Fleet const& fleet) {
        RegistryOptions result;
        result.heartbeat = fleet.heartbeat;
        return result;
    }

    Fleet const fleet_;
    Client client_;
    Registry registry_;
    std::map<std::pair<std::string, int>, Announcement> mine_;
};

/// Registers once, renews for ever, and never registers again.
class JavaLike {
public:
    JavaLike(Fleet const& fleet, std::string const& url)
        : fleet_(fleet),
          client_(url),
          port_(fleet.make_layout().make_port()(client_.core(), fleet.heartbeat)) {}

    void add(std::string const& service, int number) {
        auto const instance = instance_of(fleet_, service, number);
        auto& core = *client_.core();
        auto const written =
            core.run([&] { return port_->register_instance(instance, core.deadline()); });
        // It may be stored all the same: then its lease ends it.
        say(written ? "registered" : "abandoned", service, instance.instance_id);
        if (written) mine_.push_back({service, instance.instance_id});
    }
    void change(std::string const&, int, int) {}
    void remove(std::string const& service, int number) {
        InstanceId const id{service, id_of(fleet_, service, number)};
        auto& core = *client_.core();
        auto const done = core.run([&] { return port_->deregister_instance(id, core.deadline()); });
        say(done ? "released" : "abandoned", service, id.id);
        std::erase_if(mine_,
                      [&](auto const& one) { return one.service == service && one.id == id.id; });
    }
    void beat() {
        if (mine_.empty()) return;
        auto& core = *client_.core();
        auto const alive = core.run([&] { return port_->heartbeat(mine_, core.deadline()); });
        if (!alive) return;
        auto const all = std::exchange(mine_, {});
        for (std::size_t i = 0; i < all.size(); ++i) {
            if ((*alive)[i] == Liveness::gone) {
                say("abandoned", all[i].service, all[i].id);
            } else {
                mine_.push_back(all[i]);
            }
        }
    }

private:
    Fleet const fleet_;
    Client client_;
    std::shared_ptr<LayoutPort> port_;
    std::vector<InstanceId> mine_;
};

template <class Instances>
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

template <class Instances>
int serve(Instances& instances, Fleet const& fleet) {
    std::string pending;
    auto beat_at = std::chrono::steady_clock::now() + fleet.heartbeat;
    for (;;) {
        pollfd waiting{STDIN_FILENO, POLLIN, 0};
        int const ready = ::poll(&waiting, 1, 20);
        if (std::chrono::steady_clock::now() >= beat_at) {
            beat_at = std::chrono::steady_clock::now() + fleet.heartbeat;
            instances.beat();
        }
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

Layout Fleet::make_layout() const {
    return layout == "cosky" ? cosky_layout("{chaos}", lease) : streaming_layout("chaos", lease);
}

std::string id_of(Fleet const& fleet, std::string const& service, int number) {
    auto const port = std::to_string(first_port + number);
    return fleet.layout == "cosky" ? service + "@http#10.0.0.5#" + port : service + '-' + port;
}

int run_owner(Fleet const& fleet, std::string const& url, OwnerKind kind) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (kind == OwnerKind::java_like) {
        JavaLike instances{fleet, url};
        return serve(instances, fleet);
    }
    Announcing instances{fleet, url};
    return serve(instances, fleet);
}

Owner::Owner(Fleet const& fleet, std::string const& url, OwnerKind kind) : kind_(kind) {
    int in[2];
    int out[2];
    if (::pipe2(in, O_CLOEXEC) != 0 || ::pipe2(out, O_CLOEXEC) != 0) {
        throw std::runtime_error{"no pipes"};
    }
    auto const lease = std::to_string(fleet.lease.count());
    auto const heartbeat = std::to_string(fleet.heartbeat.count());
    char const* const arguments[] = {"chaos",
                                     "--owner",
                                     url.c_str(),
                                     fleet.layout.c_str(),
                                     lease.c_str(),
                                     heartbeat.c_str(),
                                     kind == OwnerKind::announcer ? "announcer" : "java",
                                     nullptr};
    pid_ = ::fork();
    if (pid_ == 0) {
        ::dup2(in[0], STDIN_FILENO);
        ::dup2(out[1], STDOUT_FILENO);
        ::execv("/proc/self/exe", const_cast<char* const*>(arguments));
        ::_exit(127);
    }
    ::close(in[0]);
    ::close(out[1]);
    input_ = in[1];
    output_ = out[0];
    ::fcntl(output_, F_SETFL, O_NONBLOCK);
    if (pid_ < 0) throw std::runtime_error{"no process"};
}

Owner::Owner(Owner&& other) noexcept
    : kind_(other.kind_),
      pid_(std::exchange(other.pid_, -1)),
      input_(std::exchange(other.input_, -1)),
      output_(std::exchange(other.output_, -1)),
      rest_(std::move(other.rest_)) {}

Owner::~Owner() {
    if (pid_ > 0) kill();
    if (input_ >= 0) ::close(input_);
    if (output_ >= 0) ::close(output_);
}

void Owner::kill() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
}

void Owner::send(std::string const& line) const {
    auto const text = line + '\n';
    (void)!::write(input_, text.data(), text.size());
}

void Owner::add(std::string const& service, int number) {
    send("add " + service + ' ' + std::to_string(number));
}
void Owner::change(std::string const& service, int number, int value) {
    send("change " + service + ' ' + std::to_string(number) + ' ' + std::to_string(value));
}
void Owner::remove(std::string const& service, int number) {
    send("remove " + service + ' ' + std::to_string(number));
}

std::vector<std::string> Owner::said() {
    char buffer[16'384];
    for (auto size = ::read(output_, buffer, sizeof buffer); size > 0;
         size = ::read(output_, buffer, sizeof buffer)) {
        rest_.append(buffer, static_cast<std::size_t>(size));
    }
    std::vector<std::string> lines;
    for (auto end = rest_.find('\n'); end != std::string::npos; end = rest_.find('\n')) {
        lines.push_back(rest_.substr(0, end));
        rest_.erase(0, end + 1);
    }
    return lines;
}

}  // namespace rollcall::chaos
