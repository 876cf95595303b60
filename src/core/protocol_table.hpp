#pragma once

#include <span>
#include <string>
#include <string_view>

#include "rollcall/protocol.hpp"

namespace rollcall {

/// All known protocols, once: the eleven standard ones, then the four for messaging.
std::span<Protocol const> protocol_table() noexcept;
/// Their names, for who asked for another.
std::string known_protocols();

bool equal_ignoring_case(std::string_view a, std::string_view b) noexcept;

}  // namespace rollcall
