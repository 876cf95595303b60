#include "registry/disk/snapshot_folder.hpp"

#include <array>
#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <gtest/gtest.h>
#include <iterator>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "registry/disk/descriptor.hpp"
#include "registry/disk/snapshot_format.hpp"
#include "support/redis_server.hpp"
#include "unit/registry/disk/saved.hpp"

namespace rollcall::disk {
namespace {

namespace fs = std::filesystem;
using Replaced = SnapshotFolder::Replaced;
using test::origin;
using test::saved_service;

class Folder : public testing::Test {
protected:
    static constexpr std::size_t most = 100'000;

    static std::string bytes(std::size_t size = 3,
                             std::chrono::system_clock::time_point at = test::now()) {
        auto saved = saved_service(size);
        saved.confirmed_at = at;
        return encode(origin(), saved);
    }
    std::string read() const { return folder.read("web", most).value().value_or("nothing"); }
    std::string refused() const {
        auto const found = folder.read("web", most);
        return found.has_error() ? found.error().detail() : "nothing is wrong";
    }
    bool is_refused(std::string_view part) const {
        return refused().find(part) != std::string::npos;
    }
    std::ptrdiff_t files() const {
        return std::distance(fs::directory_iterator{there.path()}, fs::directory_iterator{});
    }

    rollcall::test::TemporaryFolder there;
    SnapshotFolder folder{there.path(), origin()};
    fs::path file = folder.file_of("web");
};

TEST_F(Folder, GivesBackWhatItWasGiven) {
    EXPECT_EQ(read(), "nothing");
    EXPECT_EQ(folder.replace("web", bytes(1)).value(), Replaced::done);
    auto const later = bytes(4);
    EXPECT_EQ(folder.replace("web", later).value(), Replaced::done);
    EXPECT_EQ(read(), later);
    EXPECT_EQ(files(), 1);
    EXPECT_EQ(fs::status(file).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(Folder, HasAFileForEachServiceAndOrigin) {
    auto elsewhere = origin();
    elsewhere.name_space = "other";
    SnapshotFolder const other{there.path(), elsewhere};
    EXPECT_NE(other.file_of("web"), file);
    EXPECT_NE(folder.file_of("web/"), folder.file_of("web_"));
    for (auto const* const odd : {"", "../../etc/passwd", "a\nb", "\xff", ".", "with:colon"}) {
        auto const named = folder.file_of(odd);
        EXPECT_EQ(named.parent_path(), there.path());
        EXPECT_EQ(folder.replace(odd, bytes()).value(), Replaced::done) << named;
    }
    std::string const longest(10'000, 'n');
    EXPECT_EQ(folder.replace(longest, bytes()).value(), Replaced::done);
}

TEST_F(Folder, KeepsWhatWasConfirmedLater) {
    auto const later = bytes(2);
    ASSERT_EQ(folder.replace("web", later).value(), Replaced::done);
    auto const earlier = bytes(1, test::now() - std::chrono::minutes{1});
    EXPECT_EQ(folder.replace("web", earlier).value(), Replaced::outdated);
    EXPECT_EQ(read(), later);
    EXPECT_EQ(files(), 1);
}

TEST_F(Folder, WritesOverWhatNobodyCanReadAndOverTheFuture) {
    for (auto const& bad : {std::string{}, std::string{"garbage"},
                            bytes(1, test::now() + std::chrono::hours{24 * 365})}) {
        test::put(file, bad);
        auto const good = bytes();
        EXPECT_EQ(folder.replace("web", good).value(), Replaced::done);
        EXPECT_EQ(read(), good);
    }
}

TEST_F(Folder, LeavesWhatSomebodyElseIsWriting) {
    auto const before = bytes(1);
    ASSERT_EQ(folder.replace("web", before).value(), Replaced::done);
    auto const draft = there.path() / ("." + file.filename().native() + ".new");
    {
        Descriptor const theirs{::open(draft.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)};
        ASSERT_EQ(::flock(theirs.number(), LOCK_EX), 0);
        EXPECT_EQ(folder.replace("web", bytes(5)).value(), Replaced::busy);
    }
    EXPECT_EQ(read(), before);
    EXPECT_EQ(folder.replace("web", bytes(5)).value(), Replaced::done);
    EXPECT_FALSE(fs::exists(draft));
}

TEST_F(Folder, RefusesADirectory) {
    fs::create_directory(file);
    EXPECT_TRUE(is_refused("is a directory")) << refused();
    EXPECT_TRUE(folder.replace("web", bytes()).has_error());
    EXPECT_EQ(files(), 1) << "nothing is left behind";
}

TEST_F(Folder, RefusesWhatIsNoFile) {
    ASSERT_EQ(::mkfifo(file.c_str(), 0600), 0);
    EXPECT_TRUE(is_refused("is no file")) << refused();
    fs::remove(file);
    auto const elsewhere = there.path() / "elsewhere";
    test::put(elsewhere, bytes());
    fs::create_symlink(elsewhere, file);
    EXPECT_TRUE(is_refused("symbolic link")) << refused();
}

TEST_F(Folder, RefusesWhatOthersWroteOrMayWrite) {
    test::put(file, bytes());
    EXPECT_EQ(refused(), "nothing is wrong");
    ASSERT_EQ(::chmod(file.c_str(), 0666), 0);
    EXPECT_TRUE(is_refused("may be written by other")) << refused();
    ASSERT_EQ(::chmod(file.c_str(), 0600), 0);
    if (::geteuid() == 0) {
        ASSERT_EQ(::chown(file.c_str(), 12345, 12345), 0);
        EXPECT_TRUE(is_refused("another user")) << refused();
    } else {
        ASSERT_EQ(::chmod(file.c_str(), 0), 0);
        EXPECT_TRUE(is_refused("open ")) << refused();
    }
}

TEST_F(Folder, RefusesWhatIsTooLarge) {
    test::put(file, std::string(most, 'x'));
    EXPECT_EQ(refused(), "nothing is wrong");
    test::put(file, std::string(most + 1, 'x'));
    EXPECT_TRUE(is_refused("more than 100000 bytes")) << refused();
}

TEST_F(Folder, SaysWhyNothingCanBeWritten) {
    SnapshotFolder const missing{there.path() / "missing", origin()};
    EXPECT_EQ(missing.replace("web", bytes()).error().code(), std::errc::no_such_file_or_directory);
    EXPECT_FALSE(missing.read("web", most).value());
    test::put(there.path() / "file", "");
    SnapshotFolder const in_a_file{there.path() / "file", origin()};
    EXPECT_EQ(in_a_file.replace("web", bytes()).error().code(), std::errc::not_a_directory);
}

TEST_F(Folder, AFullDiskLeavesTheOldFile) {
    auto const before = bytes(1);
    ASSERT_EQ(folder.replace("web", before).value(), Replaced::done);
    auto const child = ::fork();
    if (child == 0) {
        // A limit on the size of files, without its signal, is met as a full disk is.
        ::signal(SIGXFSZ, SIG_IGN);
        rlimit const limit{1'000, 1'000};
        ::setrlimit(RLIMIT_FSIZE, &limit);
        ::_exit(folder.replace("web", bytes(50)).has_error() ? 0 : 1);
    }
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    EXPECT_EQ(read(), before);
    EXPECT_EQ(files(), 1);
}

/// In turn two states of different sizes.
[[noreturn]] void write_for_ever(SnapshotFolder const& folder) {
    for (std::size_t round = 0;; ++round) {
        auto saved = saved_service(round % 2 == 0 ? 5 : 100);
        saved.confirmed_at = test::now() + std::chrono::milliseconds{1};
        (void)folder.replace("web", encode(origin(), saved));
    }
}

/// Which have written something before they are killed, in the middle of anything.
void let_two_write_and_kill_them(SnapshotFolder const& folder, int round) {
    std::array<pid_t, 2> writers{};
    for (auto& writer : writers) {
        writer = ::fork();
        if (writer == 0) write_for_ever(folder);
    }
    EXPECT_TRUE(rollcall::test::eventually([&] { return fs::exists(folder.file_of("web")); }));
    ::usleep(static_cast<useconds_t>(777 * round));
    for (auto const writer : writers) ::kill(writer, SIGKILL);
    for (auto const writer : writers) ::waitpid(writer, nullptr, 0);
}

TEST_F(Folder, WhoeverIsKilledWhileWritingLeavesAWholeFile) {
    for (int round = 0; round < 20; ++round) {
        let_two_write_and_kill_them(folder, round);
        auto const decoded = decode(folder.read("web", 1 << 20).value().value(), origin(), "web");
        ASSERT_TRUE(decoded.saved) << decoded.why;
        auto const size = decoded.saved->instances.size();
        EXPECT_TRUE(size == 5 || size == 100) << size;
        EXPECT_LE(files(), 2) << "what one leaves unfinished the next takes up";
    }
    EXPECT_NE(folder.replace("web", bytes()).value(), Replaced::busy);
}

}  // namespace
}  // namespace rollcall::disk
