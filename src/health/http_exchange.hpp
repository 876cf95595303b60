#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace rollcall::health {

/// Of an answer no more than this is read.
inline constexpr std::size_t largest_head = 16 * std::size_t{1024};

/// Throws `std::invalid_argument` unless it can stand behind `http://host:port` and cannot turn
/// that into the address of another host, or the request into two.
void check_endpoint(std::string_view endpoint);

/// Expects a host and an endpoint that were checked.
std::string http_request(std::string_view host, int port, std::string_view endpoint);

/// What the first bytes of an answer say.
struct HttpStatus {
    enum class Kind { incomplete, malformed, known };

    Kind kind = Kind::incomplete;
    int code = 0;

    friend bool operator==(HttpStatus const&, HttpStatus const&) = default;
};

/// The status of the final answer; interim ones (1xx) are passed over. More than `largest_head`
/// bytes that do not hold it are malformed.
HttpStatus read_status(std::string_view received);

/// The rule of the design's HTTP checkers.
constexpr bool is_healthy_status(int code) { return code >= 200 && code < 400; }

}  // namespace rollcall::health
