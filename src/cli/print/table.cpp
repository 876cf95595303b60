#include "cli/print/table.hpp"

#include <algorithm>
#include <cassert>

#include "cli/print/text.hpp"

namespace rollcall::cli {

Table::Table(std::vector<std::string> heading) { rows_.push_back(std::move(heading)); }

void Table::add(std::vector<std::string> cells) {
    assert(cells.size() == rows_.front().size());
    // An empty cell would make what follows look like its neighbour's.
    for (auto& cell : cells) cell = cell.empty() ? "-" : terminal_safe(cell);
    rows_.push_back(std::move(cells));
}

std::string Table::to_string(bool colour) const {
    std::vector<std::size_t> widths(rows_.front().size());
    for (auto const& row : rows_) {
        for (std::size_t i = 0; i < row.size(); ++i) {
            widths[i] = std::max(widths[i], columns(row[i]));
        }
    }
    std::string text;
    for (auto const& row : rows_) {
        bool const bold = colour && &row == &rows_.front();
        if (bold) text += "\x1b[1m";
        for (std::size_t i = 0; i < row.size(); ++i) {
            text += row[i];
            if (i + 1 < row.size()) text.append(widths[i] - columns(row[i]) + 2, ' ');
        }
        if (bold) text += "\x1b[0m";
        text += '\n';
    }
    return text;
}

}  // namespace rollcall::cli
