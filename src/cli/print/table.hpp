#pragma once

#include <string>
#include <vector>

namespace rollcall::cli {

/// Rows of text under a heading, in columns, one line a row. Cells may hold foreign text.
class Table {
public:
    explicit Table(std::vector<std::string> heading);

    /// `cells` has as many elements as the heading.
    void add(std::vector<std::string> cells);

    /// Terminal-safe, each line ended by LF; the heading in bold if `colour`.
    std::string to_string(bool colour) const;

private:
    std::vector<std::vector<std::string>> rows_;  ///< Terminal-safe; the first is the heading.
};

}  // namespace rollcall::cli
