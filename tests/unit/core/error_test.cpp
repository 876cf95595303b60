#include "rollcall/error.hpp"

#include <fstream>
#include <gtest/gtest.h>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "core/errc_table.hpp"

namespace rollcall {
namespace {

TEST(ErrcTable, HasOneRowForEachCode) {
    std::set<errc> codes;
    std::set<std::string_view> names;
    for (auto const& row : errc_table()) {
        EXPECT_TRUE(codes.insert(row.code).second) << row.name;
        EXPECT_TRUE(names.insert(row.name).second) << row.name;
        EXPECT_FALSE(row.meaning.empty()) << row.name;
        EXPECT_EQ(make_error_code(row.code).message(), row.meaning);
        EXPECT_EQ(is_transient(row.code), row.transient);
        EXPECT_TRUE(row.exit_code == 1 || (row.exit_code >= 3 && row.exit_code <= 5)) << row.name;
        EXPECT_EQ(find_row(row.code), &row);
    }
    // The last enumerator: a new one behind it needs a row.
    EXPECT_EQ(codes.size(), static_cast<std::size_t>(errc::circuit_open));
}

TEST(ErrcTable, IsThatOfTheDocumentation) {
    std::ifstream page{std::string{ROLLCALL_TEST_DATA} + "/../../docs/errors.md"};
    std::vector<std::string> documented;
    for (std::string line; std::getline(page, line);) {
        if (line.starts_with("| code | meaning | transient | HTTP status | exit code |")) break;
    }
    for (std::string line; std::getline(page, line) && line.starts_with("|");) {
        if (line.starts_with("| `")) documented.push_back(line);
    }
    std::vector<std::string> expected;
    for (auto const& row : errc_table()) {
        std::ostringstream line;
        line << "| `" << row.name << "` | " << row.meaning << " | "
             << (row.transient ? "yes" : "no") << " | " << row.http_status << " | " << row.exit_code
             << " |";
        expected.push_back(line.str());
    }
    EXPECT_EQ(documented, expected);
}

TEST(ErrcTable, IsForItsOwnCategory) {
    EXPECT_EQ(find_row(std::make_error_code(std::errc::timed_out)), nullptr);
    EXPECT_FALSE(is_transient(std::make_error_code(std::errc::timed_out)));
    EXPECT_FALSE(is_transient({}));
    EXPECT_EQ(find_row({999, error_category()}), nullptr);
    EXPECT_EQ(std::string{error_category().message(999)}, "unknown error");
}

TEST(Error, KeepsServerTextOutOfWhat) {
    Error const error{errc::timeout, "secret of the server"};
    EXPECT_EQ(error.code(), errc::timeout);
    EXPECT_EQ(error.detail(), "secret of the server");
    EXPECT_EQ(std::string{error.what()}.find("secret"), std::string::npos);
}

}  // namespace
}  // namespace rollcall
