#pragma once

#include <fstream>
#include <gmock/gmock.h>
#include <iterator>
#include <sstream>
#include <string>

#include "program.hpp"

namespace rollcall::test {

/// The users that a page of `docs` names, made as it says: its lines `ACL SETUSER …`.
class DocumentedUsersTest : public CliTest {
protected:
    explicit DocumentedUsersTest(std::string const& name) {
        std::ifstream page{ROLLCALL_DOCS "/" + name};
        for (std::string line; std::getline(page, line);) {
            if (!line.starts_with("ACL SETUSER ")) continue;
            std::istringstream words{line};
            Arguments const command{std::istream_iterator<std::string>{words}, {}};
            redis().must(command);
            users_.push_back(command.at(2));
        }
    }

    void become(std::string const& user) {
        ASSERT_THAT(users_, testing::Contains(user));
        environment()["ROLLCALL_URL"] =
            "unix://" + user + ":PASSWORD@" + server().socket() + "?db=0";
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
