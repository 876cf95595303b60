#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "integration/streaming/fixture.hpp"

namespace rollcall::streaming::test {
namespace {

using Fork = StreamingTest;

TEST_F(Fork, TheChildIsToldThatItIsClosed) {
    RedisServiceProvider provider{client};
    provider.start();
    auto const instance = an_instance("orders", "o-1");
    provider.register_instance(instance);
    auto shared = std::make_unique<RedisServiceProvider>(client);
    shared->start();
    RedisServiceConsumer consumer{client};
    consumer.start();
    auto const child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        std::error_code error;
        int wrong = 0;
        shared->register_instance(instance, error);
        if (error != errc::closed) wrong |= 1;
        shared->deregister_instance(instance, error);
        if (error != errc::closed) wrong |= 2;
        if (shared->send_heartbeat(instance) != HeartbeatResult::failed) wrong |= 4;
        consumer.all_instances("orders", error);
        if (error != errc::closed) wrong |= 8;
        shared.reset();
        ::_exit(wrong);
    }
    int status = -1;
    ASSERT_TRUE(eventually([&] { return ::waitpid(child, &status, WNOHANG) == child; }));
    ASSERT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 0);
    EXPECT_EQ(ids_of(consumer.all_instances("orders")), std::vector<std::string>{"o-1"});
    EXPECT_EQ(provider.send_heartbeat(instance), HeartbeatResult::alive);
}

}  // namespace
}  // namespace rollcall::streaming::test
