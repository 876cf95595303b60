#include "cli/config_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <iterator>
#include <sys/stat.h>
#include <toml++/toml.h>
#include <unistd.h>

#include "cli/exit_code.hpp"
#include "cli/settings.hpp"

namespace rollcall::cli {

namespace {

constexpr std::size_t largest_file = std::size_t{1} << 20;

class Descriptor {
public:
    explicit Descriptor(int descriptor) : descriptor_(descriptor) {}
    ~Descriptor() {
        if (descriptor_ >= 0) close(descriptor_);
    }
    Descriptor(Descriptor const&) = delete;
    Descriptor& operator=(Descriptor const&) = delete;
    int get() const noexcept { return descriptor_; }

private:
    int descriptor_;
};

bool counts_seconds(std::string_view name) { return name == "lease" || name == "timeout"; }

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

/// Of a regular file: a device may have no end, and a pipe nobody at the other one.
std::string contents(std::string const& path, std::string_view name) {
    auto const refuse_errno = [&](int reason) {
        throw UsageError{name, path, std::string{"cannot be read: "} + std::strerror(reason)};
    };
    Descriptor const file{open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)};
    struct stat info{};
    if (file.get() < 0 || fstat(file.get(), &info) != 0) refuse_errno(errno);
    if (S_ISDIR(info.st_mode)) refuse_errno(EISDIR);
    if (!S_ISREG(info.st_mode)) throw UsageError{name, path, "must be a regular file"};
    std::string text(largest_file + 1, '\0');
    std::size_t size = 0;
    while (size < text.size()) {
        auto const got = read(file.get(), text.data() + size, text.size() - size);
        if (got < 0 && errno != EINTR) refuse_errno(errno);
        if (got == 0) break;
        if (got > 0) size += static_cast<std::size_t>(got);
    }
    if (size > largest_file) throw UsageError{name, path, "must not be larger than 1 MiB"};
    text.resize(size);
    return text;
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
        } else if (auto const* integer = node.as_integer(); integer && counts_seconds(name)) {
            values[name] = {std::to_string(integer->get()), source};
        } else {
            throw UsageError{where, name,
                             counts_seconds(name) ? "the value must be a string or an integer"
                                                  : "the value must be a string"};
        }
    }
    return values;
}

ConfigValues read_config_file(std::string const& path, std::string_view name) {
    return parse_config(contents(path, name), path);
}

}  // namespace rollcall::cli
