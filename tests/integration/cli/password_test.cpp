// Card BC-02: odd passwords log in, and none is shown.

#include <fstream>
#include <gmock/gmock.h>

#include "program.hpp"

namespace rollcall::test {
namespace {

using testing::HasSubstr;
using testing::Not;

class PasswordTest : public CliTest {
protected:
    PasswordTest() {
        redis().must({"CONFIG", "SET", "requirepass", "p@s/w#d:%41+ é"});
        environment().erase("ROLLCALL_URL");
    }

    std::string url(std::string const& password) {
        return "unix://:" + password + "@" + server().socket();
    }
    std::string const escaped_ = "p%40s%2Fw%23d%3A%2541%2B%20%C3%A9";
};

TEST_F(PasswordTest, AnEscapedPasswordLogsIn) {
    auto const outcome = must({"services", "--url", url(escaped_)});
    EXPECT_EQ(outcome.err, "");
    EXPECT_EQ(must({"services", "--url=" + url(escaped_)}).out, outcome.out);
    environment()["ROLLCALL_URL"] = url(escaped_);
    EXPECT_EQ(must({"services"}).out, outcome.out);
    std::filesystem::create_directories(home() / ".config" / "rollcall");
    std::ofstream{home() / ".config" / "rollcall" / "config.toml"} << "url = '" << url(escaped_)
                                                                   << "'\n";
    environment().erase("ROLLCALL_URL");
    EXPECT_EQ(must({"services"}).out, outcome.out);
}

TEST_F(PasswordTest, NoPasswordIsShown) {
    for (auto const& password : {escaped_, std::string{"p@s/w#d:%41+ é"}, std::string{"w#d%zz"},
                                 std::string{"wrong-w%23d"}}) {
        for (Arguments const& arguments :
             {Arguments{"doctor", "--url", url(password)},
              Arguments{"services", "--ulr", url(password)},
              Arguments{"services", "--ulr=" + url(password)}, Arguments{"services", url(password)},
              Arguments{"services", "--output", "json", "--url", url(password)}}) {
            auto const outcome = run(arguments);
            for (auto const& text : {outcome.out, outcome.err}) {
                EXPECT_THAT(text, Not(HasSubstr("w#d"))) << arguments[1];
                EXPECT_THAT(text, Not(HasSubstr("w%23d"))) << arguments[1];
            }
        }
    }
}

TEST_F(PasswordTest, ABadUserPartIsRefusedWithTheRule) {
    for (auto const* password : {"p@s/w#d:%41+ é", "%zz"}) {
        auto const outcome = run({"services", "--url", url(password)});
        EXPECT_EQ(outcome.code, 2) << password;
        EXPECT_THAT(outcome.err, HasSubstr("percent")) << password;
    }
}

TEST_F(PasswordTest, AWrongPasswordIsAccessDenied) {
    auto const outcome = run({"doctor", "--url", url("wrong"), "--output", "json"});
    EXPECT_EQ(outcome.code, 1);
    EXPECT_FALSE(outcome.json().at("ok").as_bool());
    EXPECT_THAT(outcome.out, HasSubstr("WRONGPASS"));
}

TEST_F(PasswordTest, TheProcessListDoesNotShowIt) {
    auto waiting = start({"wait", "nosuch", "--url", url(escaped_), "--timeout", "20s"});
    auto const arguments = [&] {
        std::ifstream file{"/proc/" + std::to_string(waiting.pid()) + "/cmdline", std::ios::binary};
        return std::string{std::istreambuf_iterator<char>{file}, {}};
    };
    ASSERT_TRUE(eventually([&] { return arguments().find("unix://***") != std::string::npos; }));
    EXPECT_THAT(arguments(), Not(HasSubstr("w%23d")));
    EXPECT_THAT(arguments(), HasSubstr(server().socket()));
    EXPECT_TRUE(waiting.running()) << waiting.err();
}

TEST_F(PasswordTest, TheCommandOfRunDoesNotGetIt) {
    for (auto const& one : {url(escaped_), url(escaped_) + "?nonsense"}) {
        environment()["ROLLCALL_URL"] = one;
        Arguments arguments{"run", "--service", "web", "--port", "1", "--host", "h"};
        arguments.insert(arguments.end(), {"--url", url(escaped_)});
        auto const command = child({"show"});
        arguments.insert(arguments.end(), command.begin(), command.end());
        EXPECT_THAT(run(arguments).out, HasSubstr("no url\n")) << one;
    }
}

}  // namespace
}  // namespace rollcall::test
