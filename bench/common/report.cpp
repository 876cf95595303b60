#include "common/report.hpp"

#include <algorithm>
#include <boost/json/serialize.hpp>
#include <boost/json/string.hpp>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <ostream>
#include <stdexcept>
#include <thread>

#include "common/process.hpp"

namespace rollcall::bench {
namespace {

std::string number_text(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.4g", value);
    double const rounded = std::strtod(text, nullptr);
    std::snprintf(text, sizeof text, "%.*f", rounded < 100 ? 3 : 0, rounded);
    return text;
}

std::string in_quotes(std::string const& text) {
    return boost::json::serialize(boost::json::string{text});
}

std::string wanted_text(Figure const& figure) {
    if (!figure.at_least && !figure.at_most) return "";
    auto const limit = figure.at_least ? *figure.at_least : *figure.at_most;
    char text[64];
    std::snprintf(text, sizeof text, "%s %.2f: %s", figure.at_least ? ">=" : "<=", limit,
                  reached(figure) ? "yes" : "NO");
    return text;
}

std::string processor() {
    std::ifstream in{"/proc/cpuinfo"};
    for (std::string line; std::getline(in, line);) {
        if (!line.starts_with("model name")) continue;
        auto const at = line.find(": ");
        if (at != std::string::npos) return line.substr(at + 2);
    }
    return "unknown processor";
}

std::string commit() {
    auto const folder = std::filesystem::read_symlink("/proc/self/exe").parent_path().string();
    try {
        auto text =
            must_run({"git", "-C", folder, "describe", "--always", "--dirty", "--abbrev=10"})
                .output;
        std::erase(text, '\n');
        return text;
    } catch (std::exception const&) {
        return "unknown";  // Built outside the working copy, or from an archive.
    }
}

}  // namespace

bool reached(Figure const& figure) {
    if (figure.at_least && figure.ratio < *figure.at_least) return false;
    return !figure.at_most || figure.ratio <= *figure.at_most;
}

Circumstances circumstances(std::string const& redis_version) {
    auto const cores = std::thread::hardware_concurrency();
    return {std::to_string(cores) + " x " + processor(), redis_version, commit()};
}

std::ostream& operator<<(std::ostream& out, Circumstances const& where) {
    std::string load;
    std::ifstream{"/proc/loadavg"} >> load;
    return out << where.machine << ", Redis " << where.redis << ", commit " << where.commit
               << ", load average " << load << '\n';
}

void print_table(std::ostream& out, std::vector<Figure> const& figures) {
    std::size_t width = 0;
    for (auto const& figure : figures) width = std::max(width, figure.name.size());
    for (auto const& figure : figures) {
        char text[128];
        std::snprintf(text, sizeof text, "  %9s %-4s", number_text(figure.value).c_str(),
                      figure.unit.c_str());
        out << figure.name << std::string(width - figure.name.size(), ' ') << text;
        if (figure.ratio > 0) {
            std::snprintf(text, sizeof text, " %7.2f x +-%-4.0f%% %-12s ", figure.ratio,
                          figure.spread * 100, wanted_text(figure).c_str());
            out << text;
        }
        out << ' ' << figure.against << '\n';
    }
}

void append_json_lines(std::filesystem::path const& file, std::vector<Figure> const& figures,
                       Circumstances const& where) {
    std::ofstream out{file, std::ios::app};
    for (auto const& figure : figures) {
        out << "{\"name\":" << in_quotes(figure.name) << ",\"value\":" << number_text(figure.value)
            << ",\"unit\":" << in_quotes(figure.unit) << ",\"ratio\":" << number_text(figure.ratio)
            << ",\"against\":" << in_quotes(figure.against)
            << ",\"spread\":" << number_text(figure.spread) << ",\"samples\":" << figure.samples
            << ",\"machine\":" << in_quotes(where.machine)
            << ",\"redis\":" << in_quotes(where.redis) << ",\"commit\":" << in_quotes(where.commit)
            << "}\n";
    }
    out.flush();
    if (!out) throw std::runtime_error{"cannot write " + file.string()};
}

}  // namespace rollcall::bench
