#include "load/monitor.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <stdexcept>
#include <string>

namespace rollcall::bench {
namespace {

/// The character that the escape at `at`, behind its backslash, stands for; moves `at` behind it.
char unescaped(std::string_view line, std::size_t& at) {
    char const kind = line[at++];
    switch (kind) {
        case 'n':
            return '\n';
        case 'r':
            return '\r';
        case 't':
            return '\t';
        case 'a':
            return '\a';
        case 'b':
            return '\b';
        case 'x': {
            unsigned value = 0;
            auto const* const digits = line.data() + at;
            std::from_chars(digits, digits + std::min<std::size_t>(2, line.size() - at), value, 16);
            at += 2;
            return static_cast<char>(value);
        }
        default:
            return kind;
    }
}

}  // namespace

Command arguments_in_monitor_line(std::string_view line) {
    Command arguments;
    auto at = line.find("] \"");
    if (at == std::string_view::npos) return arguments;
    at += 2;
    while (at < line.size() && line[at] == '"') {
        auto& argument = arguments.emplace_back();
        for (++at; at < line.size() && line[at] != '"';) {
            char const character = line[at++];
            argument += character == '\\' && at < line.size() ? unescaped(line, at) : character;
        }
        at += 2;  // The quote and a space.
    }
    return arguments;
}

Monitor::Monitor(test::RedisServer const& server) : client_(server) { client_.must({"MONITOR"}); }

Command Monitor::next(std::string_view name) {
    for (;;) {
        auto const line = client_.receive(std::chrono::seconds{5});
        if (line.text.empty()) {
            throw std::runtime_error{"no " + std::string{name} + " was sent"};
        }
        auto arguments = arguments_in_monitor_line(line.text);
        if (!arguments.empty() && arguments.front() == name) return arguments;
    }
}

}  // namespace rollcall::bench
