#pragma once

#include <csignal>
#include <functional>
#include <gmock/gmock.h>
#include <string>

#include "program.hpp"
#include "support/documented_users.hpp"

namespace rollcall::test {

/// The users that a page of `docs` names, made as it says: its lines `ACL SETUSER …`.
class DocumentedUsersTest : public CliTest {
protected:
    explicit DocumentedUsersTest(std::string const& page) {
        for (auto const& command : rollcall::test::documented_users(page)) {
            redis().must(command);
            users_.push_back(command.at(2));
        }
    }

    void become(std::string const& user) {
        ASSERT_THAT(users_, testing::Contains(user));
        environment()["ROLLCALL_URL"] =
            "unix://" + user + ":PASSWORD@" + server().socket() + "?db=0";
    }

    /// A reader who watches hears of what `add` registers.
    void expect_watching(std::function<Outcome()> const& add) {
        auto const writer = environment()["ROLLCALL_URL"];
        become("reader");
        auto const one = start({"watch", "web", "--output", "json"});
        auto const all = start({"watch", "--output", "json"});
        EXPECT_TRUE(eventually([&] {
            return redis().must({"CLIENT", "LIST", "TYPE", "pubsub"}).text.find("reader") !=
                   std::string::npos;
        }));
        environment()["ROLLCALL_URL"] = writer;
        EXPECT_EQ(add().code, 0);
        for (auto const* const watching : {&one, &all}) {
            EXPECT_TRUE(
                eventually([&] { return watching->out().find("\"web\"") != std::string::npos; }));
            EXPECT_THAT(watching->err(), testing::Not(testing::HasSubstr("late")));
        }
    }

    static void expect_no_refusal(std::string const& text) {
        for (auto const* part : {"NOPERM", "ACL", "not known", "permission"}) {
            EXPECT_THAT(text, testing::Not(testing::HasSubstr(part)));
        }
    }

    /// `run` registers an instance on `port`, stored at `key`, renews it and takes it back.
    void expect_running(std::string const& port, std::string const& key, Arguments further = {}) {
        Arguments arguments{"run", "--service", "web", "--host",          "10.0.0.1", "--port",
                            port,  "--lease",   "3s",  "--start-timeout", "0"};
        arguments.insert(arguments.end(), further.begin(), further.end());
        for (auto const& word : child({"port=" + port})) arguments.push_back(word);
        auto program = start(arguments);
        ASSERT_TRUE(eventually([&] { return redis().must({"EXISTS", key}).integer == 1; }));
        for (int i = 0; i < 2; ++i) {
            redis().must({"PEXPIRE", key, "1500"});
            EXPECT_TRUE(eventually([&] { return redis().must({"PTTL", key}).integer > 2'500; }));
        }
        program.signal(SIGTERM);
        program.wait();
        EXPECT_EQ(redis().must({"EXISTS", key}).integer, 0);
        expect_no_refusal(program.err());
    }

private:
    Arguments users_;
};

}  // namespace rollcall::test
