#include "registry/disk/snapshot_store.hpp"

#include <atomic>
#include <filesystem>
#include <gtest/gtest.h>
#include <mutex>
#include <optional>
#include <sys/wait.h>
#include <unistd.h>

#include "registry/disk/snapshot_folder.hpp"
#include "registry/disk/snapshot_format.hpp"
#include "support/log_book.hpp"
#include "support/redis_server.hpp"
#include "unit/registry/disk/saved.hpp"

namespace rollcall::disk {
namespace {

using namespace std::chrono_literals;
using rollcall::test::eventually;
using Clock = std::chrono::steady_clock;

class FakeService final : public Source {
public:
    explicit FakeService(std::string name) : name_(std::move(name)) {}

    void show(std::size_t instances) {
        std::lock_guard const lock{mutex_};
        ++mark_.revision;
        mark_.confirmed_at = Clock::now();
        size_ = instances;
    }
    void confirm_again() {
        std::lock_guard const lock{mutex_};
        mark_.confirmed_at = Clock::now();
    }
    int captures() const { return captures_; }

    std::string const& name() const noexcept override { return name_; }
    std::optional<Mark> mark() const override {
        std::lock_guard const lock{mutex_};
        return mark_.revision > 0 ? std::optional{mark_} : std::nullopt;
    }
    SavedService capture() const override {
        std::lock_guard const lock{mutex_};
        ++captures_;
        auto saved = test::saved_service(size_);
        saved.service = name_;
        saved.confirmed_at = std::chrono::system_clock::now();
        return saved;
    }

private:
    std::string const name_;
    mutable std::mutex mutex_;
    Mark mark_;
    std::size_t size_ = 0;
    mutable std::atomic<int> captures_ = 0;
};

class Store : public testing::Test {
protected:
    StoreOptions options(std::chrono::milliseconds write_every = 20ms) const {
        StoreOptions result;
        result.directory = there.path();
        result.origin = test::origin();
        result.write_every = write_every;
        return result;
    }
    std::shared_ptr<SnapshotStore> open(StoreOptions const& with) {
        return std::make_shared<SnapshotStore>(with, Log{log.callback()});
    }
    std::shared_ptr<FakeService> added(SnapshotStore& store, std::string name) {
        auto service = std::make_shared<FakeService>(std::move(name));
        store.add(service);
        return service;
    }
    /// None for no file, and for one that is not good.
    std::optional<SavedService> on_disk(std::string const& service = "web") const {
        auto const bytes = folder.read(service, 1 << 20);
        if (bytes.has_error() || !bytes->has_value()) return std::nullopt;
        return decode(**bytes, test::origin(), service).saved;
    }
    bool comes_to_hold(std::size_t size, std::string const& service = "web") const {
        return eventually([&] {
            auto const saved = on_disk(service);
            return saved && saved->instances.size() == size;
        });
    }
    void write(SavedService const& saved) const {
        test::put(folder.file_of(saved.service), encode(test::origin(), saved));
    }
    /// What a fresh store gives of `web`.
    std::optional<SavedService> given(StoreOptions const& with) {
        auto marker = test::saved_service(1);
        marker.service = "marker";
        write(marker);
        std::optional<SavedService> found;
        std::atomic<bool> done = false;
        auto const store = open(with);
        store->read("web", [&](SavedService saved) { found = std::move(saved); });
        store->read("marker", [&](SavedService const&) { done = true; });
        EXPECT_TRUE(eventually([&] { return done.load(); }));
        store->close(true);
        return found;
    }

    rollcall::test::LogBook log;
    rollcall::test::TemporaryFolder there;
    SnapshotFolder folder{there.path(), test::origin()};
};

TEST_F(Store, SavesWhatChangesAndNothingElse) {
    auto const store = open(options());
    auto const web = added(*store, "web");
    web->show(2);
    EXPECT_TRUE(comes_to_hold(2));
    web->show(3);
    EXPECT_TRUE(comes_to_hold(3));
    auto const before = web->captures();
    auto const other = added(*store, "other");
    for (std::size_t round = 1; round < 4; ++round) {
        other->show(round);
        EXPECT_TRUE(comes_to_hold(round, "other"));
    }
    EXPECT_EQ(web->captures(), before);
    EXPECT_TRUE(log.lines().empty());
    store->close(true);
}

TEST_F(Store, SavesNothingThatRedisHasNotSaid) {
    auto const store = open(options());
    auto const web = added(*store, "web");
    auto const other = added(*store, "other");
    other->show(1);
    EXPECT_TRUE(comes_to_hold(1, "other"));
    store->close(true);
    EXPECT_FALSE(on_disk());
    EXPECT_EQ(web->captures(), 0);
}

TEST_F(Store, ConfirmsNowAndThenWhatStaysAsItIs) {
    auto quick = options();
    quick.max_age = 400ms;
    auto const store = open(quick);
    auto const web = added(*store, "web");
    web->show(2);
    EXPECT_TRUE(comes_to_hold(2));
    auto const first = on_disk()->confirmed_at;
    EXPECT_TRUE(eventually([&] {
        web->confirm_again();
        return on_disk()->confirmed_at > first;
    }));
    store->close(true);
}

TEST_F(Store, TheEndSavesWhatChanged) {
    auto const store = open(options(1h));
    auto web = added(*store, "web");
    web->show(4);
    auto const before = Clock::now();
    store->close(true);
    EXPECT_LT(Clock::now() - before, 1s);
    EXPECT_TRUE(on_disk());
    std::weak_ptr<FakeService> const watched = std::exchange(web, nullptr);
    EXPECT_TRUE(watched.expired());
}

TEST_F(Store, AnEndWithoutWaitingSavesAllTheSame) {
    auto store = open(options(1h));
    auto web = added(*store, "web");
    web->show(4);
    store->close(false);
    store.reset();
    web.reset();
    EXPECT_TRUE(comes_to_hold(4));
}

TEST_F(Store, WhatCannotBeWrittenIsOneWarningAndTriedAgain) {
    auto nowhere = options(10ms);
    nowhere.directory = there.path() / "later";
    auto const store = open(nowhere);
    auto const web = added(*store, "web");
    auto const other = added(*store, "other");
    web->show(1);
    other->show(1);
    EXPECT_TRUE(eventually([&] { return web->captures() + other->captures() >= 3; }));
    EXPECT_EQ(log.count("services are not saved"), 1U);
    std::filesystem::create_directory(nowhere.directory);
    SnapshotFolder const later{nowhere.directory, test::origin()};
    EXPECT_TRUE(eventually([&] { return later.read("other", 1 << 20).value().has_value(); }));
    store->close(true);
}

TEST_F(Store, WhatIsTooMuchIsNotSavedWithAWarning) {
    auto small = options();
    small.max_bytes = 2'000;
    auto const store = open(small);
    auto const web = added(*store, "web");
    web->show(1);
    EXPECT_TRUE(comes_to_hold(1));
    web->show(100);
    EXPECT_TRUE(eventually([&] { return log.has("bytes are too many"); }));
    EXPECT_EQ(on_disk()->instances.size(), 1U);
    web->show(2);
    EXPECT_TRUE(comes_to_hold(2));
    store->close(true);
}

TEST_F(Store, TheLimitIsThatOfAllFilesTogether) {
    auto small = options();
    small.max_bytes = encode(test::origin(), test::saved_service(2)).size() * 3 / 2;
    auto const store = open(small);
    auto const web = added(*store, "web");
    web->show(2);
    EXPECT_TRUE(comes_to_hold(2));
    auto const other = added(*store, "other");
    other->show(2);
    EXPECT_TRUE(eventually([&] { return log.has("service other is not saved"); }));
    EXPECT_FALSE(on_disk("other"));
    store->close(true);
}

TEST_F(Store, GivesBackWhatWasSaved) {
    auto const saved = test::saved_service();
    write(saved);
    auto const found = given(options());
    ASSERT_TRUE(found);
    EXPECT_EQ(found->confirmed_at, saved.confirmed_at);
    EXPECT_EQ(found->instances.size(), 3U);
    EXPECT_TRUE(log.lines().empty());
}

TEST_F(Store, NoFileIsNoAnswerAndNoWarning) {
    EXPECT_FALSE(given(options()));
    EXPECT_TRUE(log.lines().empty());
}

TEST_F(Store, AnEmptyListIsNoAnswer) {
    write(test::saved_service(0));
    EXPECT_FALSE(given(options()));
    EXPECT_TRUE(log.lines().empty());
}

TEST_F(Store, WhatIsTooOldIsIgnoredWithAWarning) {
    auto saved = test::saved_service();
    saved.confirmed_at = test::now() - 25h;
    write(saved);
    EXPECT_FALSE(given(options()));
    EXPECT_TRUE(log.has("it is too old"));
    auto patient = options();
    patient.max_age = 26h;
    EXPECT_TRUE(given(patient));
}

TEST_F(Store, WhatLiesAheadIsOfNowWithAWarning) {
    auto saved = test::saved_service();
    saved.confirmed_at = test::now() + 1h;
    write(saved);
    auto const found = given(options());
    ASSERT_TRUE(found);
    EXPECT_LE(found->confirmed_at, std::chrono::system_clock::now());
    EXPECT_TRUE(log.has("a time that lies ahead"));
}

TEST_F(Store, ADamagedFileIsIgnoredWithAWarning) {
    auto bytes = encode(test::origin(), test::saved_service());
    bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
    test::put(folder.file_of("web"), bytes);
    EXPECT_FALSE(given(options()));
    EXPECT_TRUE(log.has("is damaged"));
}

TEST_F(Store, AFileThatIsADirectoryIsIgnoredWithAWarning) {
    std::filesystem::create_directory(folder.file_of("web"));
    EXPECT_FALSE(given(options()));
    EXPECT_TRUE(log.has("is a directory"));
}

TEST_F(Store, IsLeftAloneByAForkedChild) {
    auto store = open(options());
    auto const web = added(*store, "web");
    web->show(1);
    EXPECT_TRUE(comes_to_hold(1));
    auto const child = ::fork();
    if (child == 0) {
        store->add(web);
        store->read("web", [](SavedService const&) { ::_exit(2); });
        store->close(true);
        store.reset();
        ::_exit(0);
    }
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    web->show(2);
    EXPECT_TRUE(comes_to_hold(2));
    store->close(true);
}

}  // namespace
}  // namespace rollcall::disk
