// What people are told on standard error and in the help, and what they are spared.

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <gmock/gmock.h>

#include "program.hpp"

namespace rollcall::test {
namespace {

using testing::HasSubstr;
using testing::Not;

class MessagesTest : public CliTest {
protected:
    void add(std::string const& service, std::string const& id) {
        must({"register", "--service", service, "--id", id, "--host", "h", "--port", "1"});
    }

    std::string const keys_ = "redis_streaming_registry:services:";
};

TEST_F(MessagesTest, ADamagedServiceHidesNoOtherFromStat) {
    add("ok", "a");
    add("web", "a");
    redis().must({"DEL", keys_ + "web:heartbeats"});
    redis().must({"SET", keys_ + "web:heartbeats", "x"});
    auto const outcome = must({"stat", "--output", "json"});
    auto const document = outcome.json();
    EXPECT_EQ(document.at("total").at("instances").as_int64(), 1);
    EXPECT_EQ(document.at("services").as_array().size(), 1u);
    EXPECT_THAT(outcome.err, HasSubstr(keys_ + "web:heartbeats: WRONGTYPE"));
    auto const filtered = run({"list", "web", "--where", "a==b"});
    EXPECT_EQ(filtered.code, 1);
    EXPECT_THAT(filtered.err, HasSubstr("WRONGTYPE"));
    EXPECT_THAT(filtered.err, Not(HasSubstr("user_script")));
}

}  // namespace
}  // namespace rollcall::test
