#include "health/http_exchange.hpp"

#include <algorithm>

#include "core/checks.hpp"
#include "core/text.hpp"

namespace rollcall::health {
namespace {

using Kind = HttpStatus::Kind;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// `HTTP/1.x ddd`, then a space or nothing: the reason may be missing, with the space before it.
HttpStatus status_in(std::string_view line) {
    constexpr std::string_view version = "HTTP/1.";
    constexpr std::size_t code_at = version.size() + 2;
    constexpr std::size_t code_end = code_at + 3;
    bool const well_formed =
        line.size() >= code_end && line.starts_with(version) && is_digit(line[version.size()]) &&
        line[code_at - 1] == ' ' && std::all_of(&line[code_at], &line[code_at] + 3, is_digit) &&
        line[code_at] != '0' && (line.size() == code_end || line[code_end] == ' ');
    if (!well_formed) return {Kind::malformed};
    return {Kind::known,
            (line[code_at] - '0') * 100 + (line[code_at + 1] - '0') * 10 + line[code_at + 2] - '0'};
}

bool could_become_status_line(std::string_view text) {
    constexpr std::string_view start = "HTTP/1.";
    return text.substr(0, start.size()) == start.substr(0, text.size());
}

}  // namespace

void check_endpoint(std::string_view endpoint) {
    constexpr std::size_t longest = 2000;
    constexpr std::string_view field = "endpoint";
    check_size(field, endpoint, longest);
    if (!endpoint.starts_with('/')) refuse(field, endpoint, "must begin with /");
    bool const printable =
        std::ranges::all_of(endpoint, [](char c) { return c > ' ' && c < '\x7f' && c != '#'; });
    if (!printable) refuse(field, endpoint, "must be printable ASCII without space or #");
}

std::string http_request(std::string_view host, int port, std::string_view endpoint) {
    bool const bracketed = is_ipv6(host);
    // A zone means something on this host only.
    auto const name = bracketed ? host.substr(0, host.find('%')) : host;
    auto const number = std::to_string(port);
    return joined({"GET ", endpoint, " HTTP/1.1\r\nHost: ", bracketed ? "[" : "", name,
                   bracketed ? "]:" : ":", number,
                   "\r\nUser-Agent: rollcall\r\nAccept: */*\r\nConnection: close\r\n\r\n"});
}

HttpStatus read_status(std::string_view received) {
    auto rest = received.substr(0, largest_head);
    auto const unfinished = received.size() < largest_head ? Kind::incomplete : Kind::malformed;
    for (;;) {
        if (!could_become_status_line(rest)) return {Kind::malformed};
        auto const end = rest.find('\n');
        if (end == std::string_view::npos) return {unfinished};
        auto line = rest.substr(0, end);
        if (line.ends_with('\r')) line.remove_suffix(1);
        auto const status = status_in(line);
        bool const interim = status.kind == Kind::known && status.code < 200 && status.code != 101;
        if (!interim) return status;
        auto const head_end = rest.find("\r\n\r\n");
        if (head_end == std::string_view::npos) return {unfinished};
        rest.remove_prefix(head_end + 4);
    }
}

}  // namespace rollcall::health
