#include "cli/print/table.hpp"

#include <gtest/gtest.h>

namespace rollcall::cli {
namespace {

TEST(Table, AlignsColumnsWithoutTrailingSpaces) {
    Table table{{"ID", "STATE"}};
    table.add({"a", "up"});
    table.add({"longer", "disabled"});
    EXPECT_EQ(table.to_string(false),
              "ID      STATE\n"
              "a       up\n"
              "longer  disabled\n");
}

TEST(Table, AlignsByColumnsNotBytes) {
    Table table{{"ID", "STATE"}};
    table.add({"日本語", "up"});
    table.add({"e\xCC\x81", "up"});
    table.add({"😀", "up"});
    EXPECT_EQ(table.to_string(false),
              "ID      STATE\n"
              "日本語  up\n"
              "e\xCC\x81       up\n"
              "😀      up\n");
}

TEST(Table, KeepsForeignTextInItsCell) {
    Table table{{"ID", "STATE"}};
    table.add({"a\n\x1b[2J", "u\tp"});
    EXPECT_EQ(table.to_string(false),
              "ID          STATE\n"
              "a\\n\\x1b[2J  u\\tp\n");
}

TEST(Table, MarksEmptyCells) {
    Table table{{"A", "B", "C"}};
    table.add({"", "x", ""});
    EXPECT_EQ(table.to_string(false), "A  B  C\n-  x  -\n");
}

TEST(Table, ColoursNothingButTheHeading) {
    Table table{{"A"}};
    table.add({"x"});
    EXPECT_EQ(table.to_string(true), "\x1b[1mA\x1b[0m\nx\n");
}

}  // namespace
}  // namespace rollcall::cli
