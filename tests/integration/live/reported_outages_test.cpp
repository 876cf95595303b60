// Outages that users of other registries reported, to those who watch and announce.

#include <filesystem>
#include <gmock/gmock.h>
#include <memory>
#include <netinet/in.h>
#include <sstream>
#include <stdexcept>
#include <sys/socket.h>
#include <unistd.h>

#include "fixture.hpp"
#include "integration/redis/detour.hpp"

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
        promote();
        master_->kill();
    }
    /// The old master lives on, and closes nothing.
    void promote() {
        RedisClient{*replica_}.must({"REPLICAOF", "NO", "ONE"});
        std::filesystem::remove(address());
        std::filesystem::create_symlink(replica_->socket(), address());
    }
    void demote() { RedisClient{*master_}.must({"REPLICAOF", "127.0.0.1", port_of_replica_}); }
    /// On the old master.
    void close_commands() {
        RedisClient old{*master_};
        std::istringstream list{old.must({"CLIENT", "LIST"}).text};
        for (std::string line; std::getline(list, line);) {
            if (line.find(" name=rollcall ") == line.npos) continue;
            old.must({"CLIENT", "KILL", "ID", line.substr(3, line.find(' ') - 3)});
        }
    }

private:
    std::string address() const { return (folder_.path() / "master.sock").string(); }

    TemporaryFolder folder_;
    std::string port_ = free_port();
    std::string port_of_replica_ = free_port();
    std::unique_ptr<RedisServer> master_ = std::make_unique<RedisServer>(
        std::vector<std::string>{"bind 127.0.0.1", "port " + port_, "repl-diskless-sync-delay 0"});
    std::unique_ptr<RedisServer> replica_ = std::make_unique<RedisServer>(std::vector<std::string>{
        "bind 127.0.0.1", "port " + port_of_replica_, "replicaof 127.0.0.1 " + port_});
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

TEST_P(ReportedOutage, AfterAFailOverThatClosesNothingOwnersAreAtTheNewMaster) {
    FailOver servers;
    auto through = options();
    through.url = servers.url();
    Client own{through};
    RegistryOptions given;
    given.heartbeat = 100ms;
    Registry const registry{own, layout(2s), given};
    auto me = registry.announce(instance(1));
    ASSERT_TRUE(eventually([&] { return me.registered(); }));
    ASSERT_TRUE(eventually([&] { return servers.replica_has("*" + id(1)); }));
    servers.promote();
    servers.demote();
    through.url = servers.url_of_replica();
    Client other{through};
    Registry const reader{other, layout(2s)};
    auto const service = watched(reader);
    me.update_metadata({{"zone", "b"}});
    EXPECT_TRUE(eventually([&] {
        auto const shown = service.instances();
        auto const* const found = shown.find(id(1));
        return found && found->metadata.contains("zone");
    }));
    auto const leaves = [&] { return ids_of(service.instances()).empty(); };
    EXPECT_FALSE(eventually(leaves, 3s)) << "longer than a lease";
    EXPECT_TRUE(me.registered());
}

TEST_P(ReportedOutage, AReaderIsNotDeafWhenOnlyItsCommandsFollowAFailOver) {
    FailOver servers;
    auto through = options();
    through.url = servers.url();
    Client own{through};
    Registry const registry{own, layout()};
    Owners owners{servers.url_of_replica(), layout()};
    auto const service = watched(registry);
    servers.promote();
    servers.close_commands();
    ASSERT_TRUE(eventually([&] { return log.count("lost the connection to") > 0; }));
    owners.add(instance(1));
    EXPECT_TRUE(shows(service, {id(1)}));
    owners.add(instance(2));
    EXPECT_TRUE(shows(service, {id(1), id(2)}));
    EXPECT_TRUE(eventually([&] { return !service.stale(); }));
    Heard heard;
    auto const watch = service.on_change(heard.listener());
    owners.set_metadata(id(2), {{"zone", "b"}});
    EXPECT_TRUE(eventually([&] { return heard.has("updated " + id(2)); }));
}

TEST_P(ReportedOutage, AConnectionOnWhichBytesTrickleIsNone) {
    rollcall::test::Detour line{server, 0ms};
    auto through = options();
    through.url = line.url();
    Client own{through};
    Registry const registry{own, layout()};
    Owners owners{server.url(), layout()};
    auto const service = watched(registry);
    line.trickle();
    owners.add(instance(1));
    EXPECT_TRUE(shows(service, {id(1)}, 12s));
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
