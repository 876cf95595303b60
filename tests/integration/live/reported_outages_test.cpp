// Outages that users of other registries reported, to those who watch and announce.

#include <filesystem>
#include <gmock/gmock.h>
#include <memory>
#include <netinet/in.h>
#include <stdexcept>
#include <sys/socket.h>
#include <unistd.h>

#include "fixture.hpp"

namespace rollcall::live::test {
namespace {

using rollcall::test::command_stat;
using rollcall::test::TemporaryFolder;

/// One that nobody listened at a moment ago.
std::string free_port() {
    int const socket = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    bool const bound = ::bind(socket, reinterpret_cast<sockaddr*>(&address), size) == 0 &&
                       ::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size) == 0;
    ::close(socket);
    if (!bound) throw std::runtime_error{"no free port"};
    return std::to_string(ntohs(address.sin_port));
}

/// A server and its replica, and an address that leads to whichever is the master.
class FailOver {
public:
    FailOver() {
        std::filesystem::create_symlink(master_->socket(), address());
        RedisClient replica{*replica_};
        auto const ready = eventually([&] {
            return replica.must({"INFO", "replication"}).text.find("master_link_status:up") !=
                   std::string::npos;
        });
        if (!ready) throw std::runtime_error{"the replica is not connected"};
    }

    std::string url() const { return "unix://" + address(); }
    std::string url_of_replica() const { return replica_->url(); }
    bool replica_has(std::string const& pattern) {
        return !RedisClient{*replica_}.must({"KEYS", pattern}).elements.empty();
    }
    void fail_over() {
        RedisClient{*replica_}.must({"REPLICAOF", "NO", "ONE"});
        std::filesystem::remove(address());
        std::filesystem::create_symlink(replica_->socket(), address());
        master_->kill();
    }

private:
    std::string address() const { return (folder_.path() / "master.sock").string(); }

    TemporaryFolder folder_;
    std::string port_ = free_port();
    std::unique_ptr<RedisServer> master_ = std::make_unique<RedisServer>(
        std::vector<std::string>{"bind 127.0.0.1", "port " + port_, "repl-diskless-sync-delay 0"});
    std::unique_ptr<RedisServer> replica_ =
        std::make_unique<RedisServer>(std::vector<std::string>{"replicaof 127.0.0.1 " + port_});
};

class ReportedOutage : public LiveTest {};

TEST_P(ReportedOutage, AfterAFailOverMessagesComeAndScriptsAreKnownAgain) {
    FailOver servers;
    auto through = options();
    through.url = servers.url();
    Client own{through};
    Registry const registry{own, layout()};
    auto me = registry.announce(instance(1));
    auto const service = watched(registry);
    ASSERT_TRUE(shows(service, {id(1)}));
    ASSERT_TRUE(eventually([&] { return servers.replica_has("*" + id(1)); }));
    servers.fail_over();
    // Owners that are connected to the new master tell only there, by scripts that it never saw.
    Owners owners{servers.url_of_replica(), layout()};
    owners.add(instance(2));
    EXPECT_TRUE(shows(service, {id(1), id(2)}));
    Heard heard;
    auto const watch = service.on_change(heard.listener());
    owners.set_metadata(id(2), {{"zone", "b"}});
    EXPECT_TRUE(eventually([&] { return heard.has("updated " + id(2)); }));
    me.update_metadata({{"zone", "c"}});
    EXPECT_TRUE(eventually([&] { return heard.has("updated " + id(1)); }));
    EXPECT_TRUE(me.registered());
}

TEST_P(ReportedOutage, AChangeIsNotReadByEachWatcherOfABigServiceAsAWhole) {
    constexpr int instances = 300;
    constexpr int processes = 20;
    constexpr int handles = 100;
    Owners owners{server.url(), layout()};
    for (int i = 0; i < instances; ++i) owners.add(instance(i));
    struct Watcher {
        Client client;
        Registry registry;
        std::vector<Service> services = {};
    };
    std::vector<std::unique_ptr<Watcher>> watchers;
    for (int i = 0; i < processes; ++i) {
        Client own{options()};
        Registry const registry{own, layout()};
        auto watcher = std::make_unique<Watcher>(Watcher{std::move(own), registry});
        for (int j = 0; j < handles; ++j) watcher->services.push_back(registry.service("web"));
        watchers.push_back(std::move(watcher));
    }
    auto const all_see = [&](auto const& what) {
        return eventually(
            [&] {
                return std::ranges::all_of(watchers, [&](auto const& watcher) {
                    return std::ranges::all_of(watcher->services, what);
                });
            },
            20s);
    };
    ASSERT_TRUE(all_see([&](Service const& service) {
        return !service.stale() && service.instances().size() == instances;
    }));
    auto const before = command_stat(admin, "hgetall", "calls");
    owners.set_metadata(id(7), {{"zone", "b"}});
    EXPECT_TRUE(all_see([&](Service const& service) {
        auto const shown = service.instances();
        auto const* const found = shown.find(id(7));
        return found && found->metadata.contains("zone");
    }));
    auto const read = command_stat(admin, "hgetall", "calls") - before;
    EXPECT_GE(read, processes);
    EXPECT_LE(read, 3 * processes) << "one instance each, not " << instances;
}

INSTANTIATE_TEST_SUITE_P(Layouts, ReportedOutage, testing::Values("streaming", "cosky"),
                         [](auto const& given) { return std::string{given.param}; });

}  // namespace
}  // namespace rollcall::live::test
