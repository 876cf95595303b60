#include "load/monitor.hpp"

#include <chrono>
#include <stdexcept>
#include <string>

#include "support/redis_escapes.hpp"

namespace rollcall::bench {

Command arguments_in_monitor_line(std::string_view line) {
    Command arguments;
    auto at = line.find("] \"");
    if (at == std::string_view::npos) return arguments;
    at += 2;
    while (at < line.size() && line[at] == '"') {
        auto& argument = arguments.emplace_back();
        for (++at; at < line.size() && line[at] != '"'; ++at) {
            argument += line[at] == '\\' ? test::unescape(line, at).value() : line[at];
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
