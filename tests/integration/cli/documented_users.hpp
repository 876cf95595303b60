#pragma once

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

private:
    Arguments users_;
};

}  // namespace rollcall::test
