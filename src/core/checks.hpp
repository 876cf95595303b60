#pragma once

#include <cstddef>
#include <string_view>

#include "rollcall/instance.hpp"

namespace rollcall {

// What every layout asks of the names, addresses and metadata that callers give. Each function
// throws `std::invalid_argument`, as `refuse` makes it, unless what it is called after holds.

void check_not_blank(std::string_view field, std::string_view text);
void check_size(std::string_view field, std::string_view text, std::size_t max_bytes);
void check_utf8(std::string_view field, std::string_view text);
void check_no_controls(std::string_view field, std::string_view text);
/// Neither white space nor control characters.
void check_one_word(std::string_view field, std::string_view text);
/// None of these ASCII characters.
void check_without(std::string_view field, std::string_view text, std::string_view characters);

/// An IPv6 address without brackets, perhaps with a zone such as `%eth0` behind it.
bool is_ipv6(std::string_view text);

/// A name or an address, IPv6 without brackets, and no other part of a URI.
void check_host(std::string_view host);
/// 0…65535.
void check_port(int port);
/// 0…1,000,000: what operators may set. The designs' own classes store any.
constexpr int largest_weight = 1'000'000;
void check_weight(int weight);
/// What callers could not use, though the designs' own classes register it: a weight out of range,
/// or port 0 that stayed 0 for want of a default.
void check_callable(ServiceInstance const& validated);
/// Keys and values are UTF-8.
void check_metadata_text(Metadata const& metadata);

}  // namespace rollcall
