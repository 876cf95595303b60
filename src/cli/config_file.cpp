#include "cli/config_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <fstream>
#include <iterator>
#include <sstream>
#include <toml++/toml.h>

#include "cli/exit_code.hpp"
#include "cli/settings.hpp"

namespace rollcall::cli {

namespace {

std::string place(std::string const& path, toml::source_region const& region) {
    return fmt::format("{}:{}", path, region.begin.line);
}

std::string known_keys() {
    std::string list;
    for (auto const& setting : setting_names) {
        list += list.empty() ? "" : ", ";
        list += setting;
    }
    return list;
}

}  // namespace

ConfigValues parse_config(std::string_view text, std::string const& path) {
    toml::table table;
    try {
        table = toml::parse(text, path);
    } catch (toml::parse_error const& error) {
        throw UsageError{place(path, error.source()) + ": " + std::string{error.description()}};
    }
    ConfigValues values;
    for (auto const& [key, node] : table) {
        auto const where = place(path, key.source());
        auto const name = std::string{key.str()};
        if (std::ranges::find(setting_names, name) == std::end(setting_names)) {
            throw UsageError{where, name, "unknown key; known are " + known_keys()};
        }
        auto const source = fmt::format("{}: {}", where, name);
        if (auto const* string = node.as_string()) {
            values[name] = {string->get(), source};
        } else if (auto const* integer = node.as_integer()) {
            values[name] = {std::to_string(integer->get()), source};
        } else {
            throw UsageError{where, name, "the value must be a string or an integer"};
        }
    }
    return values;
}

ConfigValues read_config_file(std::string const& path) {
    std::ifstream file{path, std::ios::binary};
    std::ostringstream text;
    // A folder opens but cannot be read.
    if (!file || (file.peek() != std::ifstream::traits_type::eof() && !(text << file.rdbuf())) ||
        file.bad()) {
        throw UsageError{"--config", path, std::string{"cannot be read: "} + std::strerror(errno)};
    }
    return parse_config(text.str(), path);
}

}  // namespace rollcall::cli
