// What is on disk, while Redis cannot be reached.
#include <csignal>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>

#include "integration/live/fixture.hpp"

namespace rollcall::live::test {
namespace {

using testing::ElementsAre;
namespace fs = std::filesystem;

class LiveDisk : public LiveTest {
protected:
    RegistryOptions saving() const {
        RegistryOptions result;
        result.disk_snapshot.directory = there.path();
        result.disk_snapshot.write_every = 20ms;
        return result;
    }
    Registry late_reader() { return late_reader(layout()); }
    /// Of a process that starts now.
    Registry late_reader(Layout const& of) {
        late = std::make_unique<Client>(options());
        return Registry{*late, of, saving()};
    }
    /// Another process has watched that much, and has ended.
    void save(std::vector<std::string> const& ids) {
        Client earlier{options()};
        auto given = saving();
        given.disk_snapshot.write_every = 1h;  // What is written is written at the end.
        Registry const registry{earlier, layout(), given};
        auto const service = registry.service("web");
        EXPECT_TRUE(shows(service, ids));
    }
    void register_two() {
        Owners owners{server.url(), layout()};
        owners.add(instance(1));
        owners.add(instance(2));
    }
    std::vector<fs::path> files() const {
        std::vector<fs::path> found;
        for (auto const& entry : fs::directory_iterator{there.path()}) found.push_back(entry);
        return found;
    }
    std::vector<std::string> const both{id(1), id(2)};

    rollcall::test::TemporaryFolder there;
    std::unique_ptr<Client> late;
};

TEST_P(LiveDisk, AStartWithoutRedisShowsWhatWasOnDisk) {
    register_two();
    save(both);
    server.kill();
    ClientOptions patient = options();
    patient.request_timeout = 120s;
    Client with_time{patient};
    Registry const registry{with_time, layout(), saving()};
    auto const service = registry.service("web");
    auto const before = std::chrono::steady_clock::now();
    EXPECT_EQ(ids_of(service.instances()), both);
    EXPECT_LT(std::chrono::steady_clock::now() - before, 40s) << "not after half the timeout";
    EXPECT_EQ(ids_of(registry.instances("web")), both);
    EXPECT_TRUE(service.stale());
    auto const age = service.age();
    EXPECT_LT(age, 60s);
    EXPECT_TRUE(eventually([&] { return service.age() > age; }));
    auto const state = service.instances().state(id(1));
    ASSERT_TRUE(state && state->lease_until);
    EXPECT_TRUE(state->suspect);
    EXPECT_GT(*state->lease_until, before);
    EXPECT_LT(*state->lease_until, before + 61s);
    EXPECT_TRUE(service.choose());
    EXPECT_EQ(registry.stats().suspects, 2U);
    EXPECT_TRUE(log.has("as it was on disk"));
}

TEST_P(LiveDisk, TheFirstAnswerOfRedisTakesItsPlace) {
    register_two();
    save(both);
    Owners owners{server.url(), layout()};
    owners.remove(id(2));
    owners.add(instance(3));
    admin.must({"SAVE"});
    server.kill();
    auto const registry = late_reader();
    auto const service = registry.service("web");
    Heard early;
    auto const watch = service.on_change(early.listener());
    EXPECT_EQ(ids_of(service.instances()), both);
    Heard heard;
    auto const later = service.on_change(heard.listener());
    EXPECT_TRUE(eventually([&] { return heard.size() == 2; }));
    server.start();
    EXPECT_TRUE(shows(service, {id(1), id(3)}));
    EXPECT_FALSE(is_suspect(service, id(1)));
    EXPECT_TRUE(eventually([&] { return !service.stale(); }));
    EXPECT_LE(service.age(), 1s);
    EXPECT_TRUE(eventually([&] { return heard.size() == 5; }));
    EXPECT_THAT(heard.all(),
                ElementsAre("current " + id(1), "current " + id(2), "updated " + id(1),
                            "removed " + id(2) + " (absent_after_resync)", "added " + id(3)));
    EXPECT_EQ(early.all(), heard.all());
    EXPECT_EQ(registry.stats().instances, 2U);
    EXPECT_EQ(registry.stats().suspects, 0U);
    owners.remove(id(1));
    EXPECT_TRUE(shows(service, {id(3)}));
}

TEST_P(LiveDisk, NothingOnDiskIsShownInPlaceOfAReachableRedis) {
    register_two();
    save(both);
    Owners owners{server.url(), layout()};
    owners.remove(id(2));
    for (int start = 0; start < 10; ++start) {
        auto const registry = late_reader();
        auto const service = registry.service("web");
        Heard heard;
        auto const watch = service.on_change(heard.listener());
        EXPECT_EQ(ids_of(service.instances()), std::vector{id(1)});
        EXPECT_TRUE(eventually([&] { return heard.size() > 0; }));
        EXPECT_THAT(heard.all(), ElementsAre("current " + id(1)));
    }
    EXPECT_FALSE(log.has("disk"));
}

TEST_P(LiveDisk, ARedisThatTakesConnectionsAndHangsIsAwayToo) {
    register_two();
    save(both);
    server.signal(SIGSTOP);
    auto const service = late_reader().service("web");
    EXPECT_EQ(ids_of(service.instances()), both);
    server.signal(SIGCONT);
    EXPECT_TRUE(eventually([&] { return !service.stale(); }));
    EXPECT_FALSE(is_suspect(service, id(1)));
}

TEST_P(LiveDisk, ARedisThatHasNothingToSayYetIsAwayToo) {
    register_two();
    save(both);
    admin.must({"CONFIG", "SET", "replica-serve-stale-data", "no"});
    admin.must({"REPLICAOF", "127.0.0.1", "1"});
    auto const service = late_reader().service("web");
    EXPECT_EQ(ids_of(service.instances()), both);
    EXPECT_TRUE(is_suspect(service, id(1)));
    admin.must({"REPLICAOF", "NO", "ONE"});
    EXPECT_TRUE(eventually([&] { return !service.stale(); }));
    EXPECT_FALSE(is_suspect(service, id(1)));
}

TEST_P(LiveDisk, ARedisThatIsThereAndRefusesIsNotAway) {
    register_two();
    save(both);
    admin.must({"CONFIG", "SET", "requirepass", "secret"});
    auto const registry = late_reader();
    auto const service = registry.service("web");
    std::error_code error;
    EXPECT_TRUE(service.instances(error).empty());
    EXPECT_TRUE(error) << error.message();
    EXPECT_FALSE(log.has("disk"));
}

TEST_P(LiveDisk, WhoWantsAnErrorGetsIt) {
    register_two();
    save(both);
    server.kill();
    auto const registry = late_reader();
    EXPECT_EQ(ids_of(registry.service("web").instances()), both);
    ServiceOptions strict;
    strict.on_failure = ServiceOptions::OnFailure::error;
    strict.max_age = 1h;
    std::error_code error;
    EXPECT_TRUE(registry.service("web", strict).instances(error).empty());
    EXPECT_TRUE(error);
}

TEST_P(LiveDisk, AnotherNamespaceIsNobodysBusiness) {
    register_two();
    save(both);
    server.kill();
    auto const elsewhere =
        GetParam() == "streaming" ? streaming_layout("other") : cosky_layout("{other}");
    ClientOptions quick = options();
    quick.request_timeout = 300ms;
    Client impatient{quick};
    Registry const registry{impatient, elsewhere, saving()};
    std::error_code error;
    EXPECT_TRUE(registry.service("web").instances(error).empty());
    EXPECT_TRUE(error);
}

TEST_P(LiveDisk, RegistriesShareADirectory) {
    register_two();
    {
        Client first{options()};
        Client second{options()};
        Registry const one{first, layout(), saving()};
        Registry const other{second, layout(), saving()};
        auto const web = watched(one);
        auto const same = watched(other);
        auto const more = watched(other, "db");
        Owners owners{server.url(), layout()};
        owners.add(instance(1, "db"));
        for (int round = 0; round < 20; ++round) {
            owners.set_metadata(id(1), {{"round", std::to_string(round)}});
            EXPECT_TRUE(eventually([&] {
                auto const now = web.instances();
                auto const found = now.find(id(1))->metadata.find("round");
                return found != now.find(id(1))->metadata.end() &&
                       found->second == std::to_string(round);
            }));
        }
        EXPECT_TRUE(shows(more, {id(1, "db")}));
    }
    EXPECT_EQ(files().size(), 2U);
    server.kill();
    auto const registry = late_reader();
    auto const web = registry.service("web").instances();
    EXPECT_EQ(ids_of(web), both);
    EXPECT_EQ(web.find(id(1))->metadata.at("round"), "19");
    EXPECT_EQ(ids_of(registry.service("db").instances()), std::vector{id(1, "db")});
}

TEST_P(LiveDisk, ADamagedFileIsAsNone) {
    register_two();
    save(both);
    server.kill();
    ASSERT_EQ(files().size(), 1U);
    fs::resize_file(files()[0], fs::file_size(files()[0]) - 1);
    ClientOptions quick = options();
    quick.request_timeout = 300ms;
    Client impatient{quick};
    Registry const registry{impatient, layout(), saving()};
    auto const service = registry.service("web");
    std::error_code error;
    EXPECT_TRUE(service.instances(error).empty());
    EXPECT_TRUE(error);
    EXPECT_TRUE(eventually([&] { return log.has("is damaged"); }));
    server.start();
    EXPECT_TRUE(eventually([&] { return !service.stale(); }));
}

TEST_P(LiveDisk, WithoutADirectoryEverythingElseGoesOn) {
    register_two();
    fs::remove(there.path());
    {
        Client other{options()};
        Registry const registry{other, layout(), saving()};
        auto const service = watched(registry);
        EXPECT_EQ(ids_of(service.instances()), both);
        EXPECT_TRUE(eventually([&] { return log.has("services are not saved"); }));
        EXPECT_EQ(ids_of(service.instances()), both);
    }
    EXPECT_EQ(log.count("services are not saved"), 1U);
}

TEST_P(LiveDisk, EndsWithinASecondWithAndWithoutRedis) {
    register_two();
    save(both);
    auto const end_of_one = [&] {
        auto other = std::make_unique<Client>(options());
        auto registry = std::make_unique<Registry>(*other, layout(), saving());
        auto service = std::make_unique<Service>(registry->service("web"));
        EXPECT_EQ(ids_of(service->instances()), both);
        auto const before = std::chrono::steady_clock::now();
        service.reset();
        registry.reset();
        other.reset();
        return std::chrono::steady_clock::now() - before;
    };
    EXPECT_LT(end_of_one(), 1s);
    server.kill();
    EXPECT_LT(end_of_one(), 1s);
    EXPECT_EQ(files().size(), 1U);
}

TEST_P(LiveDisk, RefusesOptionsThatMakeNoSense) {
    auto const refused = [&](auto change) {
        auto given = saving();
        change(given.disk_snapshot);
        EXPECT_THROW((Registry{client, layout(), given}), std::invalid_argument);
    };
    refused([](DiskSnapshotOptions& to) { to.write_every = 9ms; });
    refused([](DiskSnapshotOptions& to) { to.max_age = 0ms; });
    refused([](DiskSnapshotOptions& to) { to.max_bytes = std::size_t{5} << 30; });
    refused([](DiskSnapshotOptions& to) { to.directory = std::string{"a\0b", 3}; });
}

INSTANTIATE_TEST_SUITE_P(Layouts, LiveDisk, testing::Values("streaming", "cosky"),
                         [](auto const& of) { return std::string{of.param}; });

}  // namespace
}  // namespace rollcall::live::test
