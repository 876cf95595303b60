#pragma once

#include <cstddef>
#include <filesystem>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

namespace rollcall::bench {

/// One result. `docs/benchmarks.md` says what each means.
struct Figure {
    std::string name = {};
    double value = 0;
    std::string unit = {};
    double ratio = 0;
    std::string against = {};  ///< What the ratio refers to.
    double spread = 0;         ///< Of the ratio: half of its quartiles' distance, relative.
    std::size_t samples = 0;
    std::optional<double> at_least = {};  ///< Of the ratio: what is wanted.
    std::optional<double> at_most = {};
};

bool reached(Figure const& figure);

/// Where figures were measured.
struct Circumstances {
    std::string machine = {};
    std::string redis = {};
    std::string commit = {};
};

Circumstances circumstances(std::string const& redis_version);
/// One line, with the load average of now.
std::ostream& operator<<(std::ostream& out, Circumstances const& where);

void print_table(std::ostream& out, std::vector<Figure> const& figures);

/// One JSON object a line, behind what the file holds.
void append_json_lines(std::filesystem::path const& file, std::vector<Figure> const& figures,
                       Circumstances const& where);

}  // namespace rollcall::bench
