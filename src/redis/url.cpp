#include "redis/url.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdlib>
#include <limits>
#include <optional>
#include <stdexcept>
#include <sys/stat.h>
#include <unistd.h>

#include "core/checks.hpp"
#include "core/text.hpp"
#include "redis/runtime_directory.hpp"

namespace rollcall::redis {
namespace {

constexpr auto npos = std::string_view::npos;
constexpr std::size_t longest_host = 253;
constexpr char const* forms =
    "redis://[user:password@]host[:port][/db] or unix://[user:password@]/path[?db=N]";

[[noreturn]] void refuse_url(std::string_view part, std::string_view rule) {
    throw std::invalid_argument("url: " + std::string{part} + ": " + std::string{rule});
}

/// Shows `value`, which must not be, nor stand in place of, a user name or a password.
[[noreturn]] void refuse_url(std::string_view part, std::string_view value, std::string_view rule) {
    refuse_url(std::string{part} + ' ' + shown(value), rule);
}

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_number(std::string_view text) {
    return !text.empty() && std::all_of(text.begin(), text.end(), is_digit);
}

std::optional<int> number_up_to(std::string_view text, int limit) {
    if (!is_number(text)) return std::nullopt;
    int value = 0;
    auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || value > limit) return std::nullopt;
    return value;
}

int hex_digit(char c) {
    if (is_digit(c)) return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

std::string decode(std::string_view text) {
    std::string out;
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (text[at] != '%') {
            out += text[at];
            continue;
        }
        auto const high = at + 1 < text.size() ? hex_digit(text[at + 1]) : -1;
        auto const low = at + 2 < text.size() ? hex_digit(text[at + 2]) : -1;
        if (high < 0 || low < 0) {
            refuse_url("user part",
                       "'%' must be followed by two hexadecimal digits; the user part must be "
                       "percent-encoded, '%' itself as %25");
        }
        out += static_cast<char>(high * 16 + low);
        at += 2;
    }
    return out;
}

void parse_user_part(std::string_view text, Url& url) {
    if (text.find_first_of("@/?#") != npos) {
        refuse_url("user part",
                   "must be percent-encoded: '@' as %40, '/' as %2F, '?' as %3F, '#' as %23");
    }
    auto const colon = text.find(':');
    if (colon == npos) refuse_url("user part", "must be user:password@ or :password@");
    url.user = decode(text.substr(0, colon));
    url.password = decode(text.substr(colon + 1));
}

void parse_database(std::string_view text, Url& url) {
    auto const number = number_up_to(text, std::numeric_limits<int>::max());
    if (!number) refuse_url("database", text, "must be a number from 0");
    url.database = *number;
}

/// In a URL the sign before the zone of an address is written %25 (RFC 6874).
std::string with_zone(std::string_view text) {
    auto const sign = text.find("%25");
    if (sign == npos) return std::string{text};
    return std::string{text.substr(0, sign + 1)}.append(text.substr(sign + 3));
}

bool is_name_character(char c) {
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' ||
           c == '-' || c == '_';
}

void check_ipv6(std::string_view host) {
    auto const zone = std::min(host.find('%'), host.size());
    if (zone < host.size() && !std::all_of(host.begin() + static_cast<std::ptrdiff_t>(zone) + 1,
                                           host.end(), is_name_character)) {
        refuse_url("host", host, "must have a zone of letters, digits, '.', '-' and '_'");
    }
    if (!is_ipv6(host)) {
        refuse_url("host", host, "must be an IPv6 address, as it is in brackets");
    }
}

void check_host(std::string_view host) {
    if (host.empty()) refuse_url("host", "must not be empty");
    if (host.size() > longest_host) refuse_url("host", host, "must be at most 253 characters");
    if (!std::all_of(host.begin(), host.end(), is_name_character)) {
        refuse_url("host", "must be a name or an address of letters, digits, '.', '-' and '_'");
    }
}

/// Text that could be a password whose `@` was forgotten is not shown.
void parse_port(std::string_view text, Url& url) {
    constexpr std::string_view rule = "must be a number from 1 to 65535";
    auto const number = number_up_to(text, 65535);
    if (number && *number > 0) {
        url.port = *number;
    } else if (is_number(text)) {
        refuse_url("port", text, rule);
    } else {
        refuse_url("port", rule);
    }
}

void parse_address(std::string_view text, Url& url) {
    std::string_view rest;
    if (text.starts_with('[')) {
        auto const end = text.find(']');
        if (end == npos) refuse_url("host", "the closing bracket is missing");
        url.host = with_zone(text.substr(1, end - 1));
        check_ipv6(url.host);
        rest = text.substr(end + 1);
        if (!rest.empty() && rest.front() != ':') refuse_url("host", "ends with its bracket");
    } else {
        auto const colon = text.find(':');
        auto const host = text.substr(0, colon);
        check_host(host);
        url.host = host;
        rest = text.substr(std::min(colon, text.size()));
        if (std::count(rest.begin(), rest.end(), ':') > 1) {
            refuse_url("host", "an IPv6 address must be in brackets");
        }
    }
    if (!rest.empty()) parse_port(rest.substr(1), url);
}

void parse_tcp(std::string_view text, Url& url) {
    if (auto const at = text.rfind('@'); at != npos) {
        parse_user_part(text.substr(0, at), url);
        text.remove_prefix(at + 1);
    }
    if (text.find_first_of("?#") != npos) {
        refuse_url("redis://", "takes nothing behind the database, neither '?' nor '#'");
    }
    auto const slash = text.find('/');
    parse_address(text.substr(0, slash), url);
    if (slash != npos && slash + 1 < text.size()) parse_database(text.substr(slash + 1), url);
}

void parse_unix(std::string_view text, Url& url) {
    // A path may hold an '@'; then it begins where the user part would.
    if (auto const at = text.rfind('@'); !text.starts_with('/') && at != npos) {
        // The user part ends at the '@' before the path; what follows may be in the path.
        auto const first = std::min(text.find("@/"), at);
        parse_user_part(text.substr(0, first), url);
        text.remove_prefix(first + 1);
    }
    auto const question = text.find('?');
    auto const path = text.substr(0, question);
    if (!path.starts_with('/') || path.size() < 2) {
        refuse_url("path", "must be absolute, as in unix:///run/redis.sock");
    }
    if (path.size() > longest_socket_path) {
        refuse_url("path", path, "must be at most 107 bytes, the limit for a socket");
    }
    url.unix_socket = path;
    if (question == npos) return;
    auto const parameter = text.substr(question + 1);
    constexpr std::string_view name = "db=";
    if (!parameter.starts_with(name)) refuse_url("parameter", parameter, "only db=N is known");
    parse_database(parameter.substr(name.size()), url);
}

bool is_own_socket(std::string const& path) {
    struct stat info{};
    return ::lstat(path.c_str(), &info) == 0 && S_ISSOCK(info.st_mode) &&
           info.st_uid == ::geteuid();
}

}  // namespace

Url Url::parse(std::string_view text) {
    for (char const c : text) {
        if (static_cast<unsigned char>(c) <= 0x20 || c == 0x7f) {
            throw std::invalid_argument(
                "url: must hold no white space, NUL or other control character; the user part must "
                "be percent-encoded");
        }
    }
    Url url;
    auto const take = [&text](std::string_view prefix) {
        if (!text.starts_with(prefix)) return false;
        text.remove_prefix(prefix.size());
        return true;
    };
    if (take("redis://")) {
        parse_tcp(text, url);
    } else if (take("unix://")) {
        parse_unix(text, url);
    } else {
        for (std::string_view const scheme :
             {"rediss", "valkeys", "redis+sentinel", "redis-sentinel", "rediss+sentinel",
              "redis+cluster", "redis-cluster", "rediss+cluster"}) {
            if (take(std::string{scheme} + "://")) {
                refuse_url("scheme", scheme, "is not supported yet");
            }
        }
        refuse_url("scheme", std::string{"must be "} + forms);
    }
    return url;
}

std::string Url::to_string() const {
    if (!unix_socket.empty()) {
        return "unix://" + unix_socket + (database ? "?db=" + std::to_string(database) : "");
    }
    auto address = host;
    if (auto const zone = host.find('%'); zone != npos) address.insert(zone + 1, "25");
    if (host.find(':') != npos) address = '[' + address + ']';
    return "redis://" + address + ':' + std::to_string(port) +
           (database ? '/' + std::to_string(database) : "");
}

Url default_url() {
    if (auto const* text = std::getenv("ROLLCALL_URL"); text && *text) return Url::parse(text);
    Url url;
    auto const socket = embedded_socket();
    if (!why_unsafe(socket.parent_path()) && is_own_socket(socket)) url.unix_socket = socket;
    return url;
}

std::optional<std::string> why_embedded_ignored() {
    auto const socket = embedded_socket();
    if (!is_own_socket(socket)) return std::nullopt;
    auto const why = why_unsafe(socket.parent_path());
    if (!why) return std::nullopt;
    return "the embedded Redis is not used, because its directory " +
           shown(socket.parent_path().native()) + " " + *why;
}

}  // namespace rollcall::redis
