#include "core/checks.hpp"

#include <arpa/inet.h>
#include <string>

#include "core/text.hpp"

namespace rollcall {
namespace {

constexpr std::size_t max_host_size = 253;  // Of a domain name.
constexpr int max_port = 65'535;

constexpr std::string_view no_white_space = "must not contain white space";
constexpr std::string_view no_controls = "must not contain control characters";

}  // namespace

void check_not_blank(std::string_view field, std::string_view text) {
    if (is_blank(text)) refuse(field, text, "must not be empty or blank");
}

void check_size(std::string_view field, std::string_view text, std::size_t max_bytes) {
    if (text.size() > max_bytes) {
        refuse(field, text, "must not be longer than " + std::to_string(max_bytes) + " bytes");
    }
}

void check_utf8(std::string_view field, std::string_view text) {
    if (!is_utf8(text)) refuse(field, text, "must be UTF-8");
}

void check_no_controls(std::string_view field, std::string_view text) {
    for (std::size_t at = 0; at < text.size();) {
        if (is_control(next_code_point(text, at))) refuse(field, text, no_controls);
    }
}

void check_one_word(std::string_view field, std::string_view text) {
    for (std::size_t at = 0; at < text.size();) {
        auto const c = next_code_point(text, at);
        if (is_white_space(c)) refuse(field, text, no_white_space);
        if (is_control(c)) refuse(field, text, no_controls);
    }
}

void check_without(std::string_view field, std::string_view text, std::string_view characters) {
    if (auto const at = text.find_first_of(characters); at != std::string_view::npos) {
        refuse(field, text, std::string{"must not contain '"} + text[at] + '\'');
    }
}

bool is_ipv6(std::string_view text) {
    std::string const address{text.substr(0, text.find('%'))};
    in6_addr ignored{};
    return ::inet_pton(AF_INET6, address.c_str(), &ignored) == 1;
}

void check_host(std::string_view host) {
    constexpr std::string_view field = "host";
    check_not_blank(field, host);
    check_size(field, host, max_host_size);
    check_utf8(field, host);
    check_one_word(field, host);
    if (host.find_first_of("[]") != std::string_view::npos) {
        refuse(field, host, "must not contain brackets: write an IPv6 address without them");
    }
    if (host.find_first_of("/\\?#@") != std::string_view::npos) {
        refuse(field, host, "must be a name or an address, without any of / \\ ? # @");
    }
    auto const colon = host.find(':');
    if (colon == std::string_view::npos) return;
    if (host.find(':', colon + 1) == std::string_view::npos) {
        refuse(field, host, "must not carry a port");
    }
    if (!is_ipv6(host)) refuse(field, host, "must be a name or an address");
}

void check_port(int port) {
    if (port < 0 || port > max_port) refuse("port", port, "must be between 0 and 65535");
}

void check_weight(int weight) {
    if (weight >= 0 && weight <= largest_weight) return;
    refuse("weight", weight, "must be between 0 and " + std::to_string(largest_weight));
}

void check_callable(ServiceInstance const& validated) {
    check_weight(validated.weight);
    if (validated.port > 0) return;
    refuse("port", validated.port,
           "must be given: the scheme " + shown(validated.scheme) + " has no default");
}

void check_metadata_text(Metadata const& metadata) {
    for (auto const& [key, value] : metadata) {
        check_utf8("metadata key", key);
        check_utf8("metadata value", value);
    }
}

}  // namespace rollcall
