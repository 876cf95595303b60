#include "cli/settings.hpp"

#include <cstdlib>
#include <filesystem>

#include "cli/exit_code.hpp"
#include "cli/parse.hpp"

#include "rollcall/cosky/namespaced.hpp"
#include "rollcall/streaming/config.hpp"

namespace rollcall::cli {

namespace {

constexpr DurationRange lease_range{std::chrono::seconds{1}, std::chrono::hours{24 * 30}, true};

constexpr DurationRange timeout_range{std::chrono::milliseconds{1}, std::chrono::hours{24}};

std::optional<std::string> set_variable(Environment const& environment, std::string const& name) {
    auto value = environment(name);
    return value && !value->empty() ? value : std::nullopt;
}

std::string variable_for(std::string_view setting) {
    std::string name = "ROLLCALL_";
    for (char const c : setting) name += static_cast<char>(c - 'a' + 'A');
    return name;
}

/// The folder that an XDG variable names, which must be absolute to count, or its usual place.
std::string user_folder(Environment const& environment, std::string const& variable,
                        std::string_view usual) {
    if (auto const folder = set_variable(environment, variable); folder && folder->front() == '/') {
        return *folder;
    }
    auto const home = set_variable(environment, "HOME");
    return home ? *home + "/" + std::string{usual} : "";
}

ConfigValues config_values(GivenOptions const& given, Environment const& environment) {
    if (auto const option = given.find("config"); option != given.end()) {
        return read_config_file(option->second, "--config");
    }
    if (auto const path = set_variable(environment, "ROLLCALL_CONFIG")) {
        return read_config_file(*path, "ROLLCALL_CONFIG");
    }
    auto const path = default_config_path(environment);
    std::error_code ignored;
    if (path.empty() || !std::filesystem::exists(path, ignored)) return {};
    return read_config_file(path, "config file");
}

Format parse_format(Sourced const& value) {
    if (value.text == "table") return Format::table;
    if (value.text == "json") return Format::json;
    if (value.text == "wide") return Format::wide;
    throw UsageError{value.source, value.text, "must be table, json or wide"};
}

void check_layout(Sourced const& value) {
    if (value.text == "streaming" || value.text == "cosky") return;
    throw UsageError{value.source, value.text, "unknown layout; must be streaming or cosky"};
}

}  // namespace

Settings Settings::resolve(GivenOptions const& given, Environment const& environment) {
    auto const file = config_values(given, environment);
    auto const find = [&](std::string_view name) -> std::optional<Sourced> {
        if (auto const option = given.find(name); option != given.end()) {
            return Sourced{option->second, "--" + std::string{name}};
        }
        auto const variable = variable_for(name);
        if (auto text = set_variable(environment, variable)) return Sourced{*text, variable};
        if (auto const line = file.find(name); line != file.end()) return line->second;
        return std::nullopt;
    };

    // An empty variable counts as not set; an empty option or line is a mistake.
    auto const find_text = [&](std::string_view name) {
        auto value = find(name);
        if (value && value->text.empty()) throw UsageError{value->source, "", "must not be empty"};
        return value;
    };

    Settings settings;
    if (auto const value = find_text("url")) {
        settings.url = value->text;
        settings.url_source = value->source;
    }
    if (auto const value = find("layout")) {
        check_layout(*value);
        settings.layout = value->text;
        settings.lease = default_lease(settings.layout);
    }
    if (auto const value = find_text("namespace")) {
        settings.key_prefix = value->text;
        settings.key_prefix_source = value->source;
    }
    if (auto const value = find("lease")) {
        settings.lease = std::chrono::duration_cast<std::chrono::seconds>(
            parse_duration(value->source, value->text, lease_range));
    }
    if (auto const value = find("output")) settings.output = parse_format(*value);
    if (auto const value = find("timeout")) {
        settings.timeout = parse_duration(value->source, value->text, timeout_range);
        if (value->source == "--timeout") settings.given_timeout = settings.timeout;
    }
    if (auto const value = find_text("host")) settings.host = value->text;
    if (auto const value = find_text("data")) settings.data = value->text;
    return settings;
}

std::chrono::seconds default_lease(std::string_view layout) noexcept {
    // What programs of that layout give their instances by default.
    return std::chrono::seconds{layout == "cosky" ? 60 : 90};
}

std::string Settings::name_space() const {
    if (!key_prefix.empty()) return key_prefix;
    return std::string{layout == "cosky" ? cosky::Namespaced::default_namespace
                                         : streaming::default_key_prefix};
}

std::optional<std::string> process_environment(std::string const& name) {
    auto const* value = std::getenv(name.c_str());
    return value ? std::optional<std::string>{value} : std::nullopt;
}

std::string default_config_path(Environment const& environment) {
    auto const folder = user_folder(environment, "XDG_CONFIG_HOME", ".config");
    return folder.empty() ? "" : folder + "/rollcall/config.toml";
}

std::string default_data_folder(Environment const& environment) {
    auto const folder = user_folder(environment, "XDG_DATA_HOME", ".local/share");
    if (!folder.empty()) return folder + "/rollcall";
    throw UsageError{"--data: no folder was given, and neither XDG_DATA_HOME nor HOME is set"};
}

}  // namespace rollcall::cli
