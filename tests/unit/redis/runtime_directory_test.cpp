#include "redis/runtime_directory.hpp"

#include <cstdlib>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdexcept>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

#include "support/redis_server.hpp"

namespace rollcall::redis {
namespace {

namespace fs = std::filesystem;

class RuntimeDirectory : public testing::Test {
protected:
    void SetUp() override {
        if (auto const* set = std::getenv("XDG_RUNTIME_DIR")) before_ = set;
    }
    void TearDown() override {
        if (before_.empty()) {
            ::unsetenv("XDG_RUNTIME_DIR");
        } else {
            ::setenv("XDG_RUNTIME_DIR", before_.c_str(), 1);
        }
    }

    rollcall::test::TemporaryFolder folder;

private:
    std::string before_;
};

TEST_F(RuntimeDirectory, FollowsTheEnvironmentWhereItIsUsable) {
    auto const fallback = "/tmp/rollcall-" + std::to_string(::geteuid());
    ::setenv("XDG_RUNTIME_DIR", folder.path().c_str(), 1);
    EXPECT_EQ(embedded_socket(), folder.path() / "rollcall" / "redis.sock");
    ::setenv("XDG_RUNTIME_DIR", (folder.path() / "absent").c_str(), 1);
    EXPECT_EQ(runtime_directory(), fallback);
    ::setenv("XDG_RUNTIME_DIR", "relative", 1);
    EXPECT_EQ(runtime_directory(), fallback);
    ::setenv("XDG_RUNTIME_DIR", ("/" + std::string(100, 'x')).c_str(), 1);
    EXPECT_EQ(runtime_directory(), fallback);
    ::setenv("XDG_RUNTIME_DIR", "", 1);
    EXPECT_EQ(runtime_directory(), fallback);
    ::unsetenv("XDG_RUNTIME_DIR");
    EXPECT_EQ(runtime_directory(), fallback);
}

TEST_F(RuntimeDirectory, IsMadePrivate) {
    auto const directory = folder.path() / "d";
    prepare_private_directory(directory);
    EXPECT_EQ(why_unsafe(directory), std::nullopt);
    ::chmod(directory.c_str(), 0755);
    EXPECT_NE(why_unsafe(directory), std::nullopt);
    prepare_private_directory(directory);
    EXPECT_EQ(fs::status(directory).permissions(), fs::perms::owner_all);
}

TEST_F(RuntimeDirectory, IsNotTrustedWhenSomethingElseIsInItsPlace) {
    auto const real = folder.path() / "real";
    prepare_private_directory(real);
    auto const link = folder.path() / "link";
    fs::create_symlink(real, link);
    EXPECT_EQ(why_unsafe(link), "is a symbolic link");
    EXPECT_THROW(prepare_private_directory(link), std::runtime_error);
    auto const file = folder.path() / "file";
    ::close(::creat(file.c_str(), 0600));
    EXPECT_EQ(why_unsafe(file), "is not a directory");
    EXPECT_THROW(prepare_private_directory(file), std::runtime_error);
    EXPECT_THROW(prepare_private_directory(folder.path() / "no" / "parent"), std::runtime_error);
    EXPECT_NE(why_unsafe(folder.path() / "absent"), std::nullopt);
    if (::geteuid() != 0) return;
    ASSERT_EQ(::chown(real.c_str(), 12'345, 12'345), 0);
    EXPECT_EQ(why_unsafe(real), "belongs to another user");
    EXPECT_THROW(prepare_private_directory(real), std::runtime_error);
}

}  // namespace
}  // namespace rollcall::redis
