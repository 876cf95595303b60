#include "rollcall/client.hpp"

#include <cerrno>
#include <cstdlib>
#include <stdexcept>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <system_error>
#include <unistd.h>

#include "fixture.hpp"
#include "redis/runtime_directory.hpp"

#include "rollcall/error.hpp"

namespace rollcall::test {
namespace {

TEST(Client, WaitsUntilRedisAnswers) {
    RedisServer server;
    Client client{server.url()};
    EXPECT_NO_THROW(client.wait_until_ready(20s));
    EXPECT_EQ(client.address(), server.url());
    std::error_code error = make_error_code(errc::timeout);
    EXPECT_TRUE(client.wait_until_ready(20s, error));
    EXPECT_FALSE(error);

    auto moved = std::move(client);
    EXPECT_TRUE(moved.wait_until_ready(std::chrono::milliseconds::max(), error));
}

TEST(Client, TellsThatRedisIsAbsent) {
    Client client{"unix:///nonexistent/redis.sock"};
    std::error_code error;
    for (auto const limit : {50ms, 0ms, -5ms}) {
        EXPECT_FALSE(client.wait_until_ready(limit, error));
        EXPECT_EQ(error, errc::not_connected);
    }
    try {
        client.wait_until_ready(50ms);
        FAIL();
    } catch (Error const& thrown) {
        EXPECT_EQ(thrown.code(), errc::not_connected);
        EXPECT_NE(thrown.detail().find("unix:///nonexistent/redis.sock"), std::string::npos);
    }
}

TEST(Client, ShowsNoPassword) {
    RedisServer server;
    RedisClient{server}.must({"CONFIG", "SET", "requirepass", "s3cret"});
    Client const right{"unix://:s3cret@" + server.socket()};
    EXPECT_EQ(right.address(), server.url());
    Client wrong{"unix://:wr0ng@" + server.socket()};
    std::error_code error;
    EXPECT_FALSE(wrong.wait_until_ready(20s, error));
    EXPECT_EQ(error, errc::access_denied);
    EXPECT_THROW(Client{"unix://:s3/cret@" + server.socket()}, std::invalid_argument);
}

/// Lets this process open `more` descriptors and no others.
class FewDescriptors {
public:
    explicit FewDescriptors(rlim_t more) {
        ::getrlimit(RLIMIT_NOFILE, &before_);
        auto few = before_;
        int const next = ::dup(0);
        ::close(next);
        few.rlim_cur = static_cast<rlim_t>(next) + more;
        ::setrlimit(RLIMIT_NOFILE, &few);
    }
    ~FewDescriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }
    FewDescriptors(FewDescriptors const&) = delete;
    FewDescriptors& operator=(FewDescriptors const&) = delete;

private:
    rlimit before_{};
};

#ifndef __SANITIZE_ADDRESS__  // What checks types along with it needs descriptors to do so.
TEST(Client, WantOfDescriptorsIsAnErrorOfTheStandardLibrary) {
    // Each time another one is missing.
    rlim_t more = 0;
    for (bool made = false; !made; ++more) {
        ASSERT_LT(more, 50u);
        try {
            FewDescriptors const few{more};
            Client const client{"unix:///nonexistent/redis.sock"};
            made = true;
        } catch (std::system_error const& error) {
            EXPECT_EQ(error.code(), std::error_code(EMFILE, std::system_category()))
                << error.what();
        } catch (std::exception const& error) {
            FAIL() << error.what() << ", after " << more;
        }
    }
    EXPECT_GT(more, 1u);
}
#endif

class DefaultUrl : public testing::Test {
protected:
    void SetUp() override {
        ::setenv("XDG_RUNTIME_DIR", folder.path().c_str(), 1);
        ::unsetenv("ROLLCALL_URL");
    }
    void TearDown() override {
        ::unsetenv("XDG_RUNTIME_DIR");
        ::unsetenv("ROLLCALL_URL");
    }

    static void make_socket(std::filesystem::path const& path) {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        path.native().copy(address.sun_path, sizeof address.sun_path - 1);
        int const made = ::socket(AF_UNIX, SOCK_STREAM, 0);
        ASSERT_EQ(::bind(made, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
        ::close(made);
    }

    TemporaryFolder folder;
};

TEST_F(DefaultUrl, PrefersTheEnvironmentThenTheEmbeddedServer) {
    EXPECT_EQ(redis::default_url().to_string(), "redis://127.0.0.1:6379");

    redis::prepare_private_directory(redis::runtime_directory());
    make_socket(redis::embedded_socket());
    EXPECT_EQ(redis::default_url().unix_socket, folder.path() / "rollcall" / "redis.sock");

    ::setenv("ROLLCALL_URL", "redis://h:1", 1);
    EXPECT_EQ(redis::default_url().to_string(), "redis://h:1");
    ::setenv("ROLLCALL_URL", "nonsense", 1);
    EXPECT_THROW(redis::default_url(), std::invalid_argument);
    ::setenv("ROLLCALL_URL", "", 1);
    EXPECT_FALSE(redis::default_url().unix_socket.empty());
}

TEST_F(DefaultUrl, DoesNotTrustASocketThatOthersCouldHaveMade) {
    redis::prepare_private_directory(redis::runtime_directory());
    make_socket(redis::embedded_socket());
    ::chmod(redis::runtime_directory().c_str(), 0777);
    EXPECT_EQ(redis::default_url().unix_socket, "");
    ::chmod(redis::runtime_directory().c_str(), 0700);
    EXPECT_NE(redis::default_url().unix_socket, "");
    std::filesystem::remove(redis::embedded_socket());
    std::filesystem::create_directory(redis::embedded_socket());
    EXPECT_EQ(redis::default_url().unix_socket, "");
}

}  // namespace
}  // namespace rollcall::test
