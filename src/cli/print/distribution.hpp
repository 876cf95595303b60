#pragma once

#include <boost/json/value.hpp>
#include <cstddef>
#include <span>

#include "cli/print/table.hpp"
#include "registry/layout_port.hpp"

namespace rollcall::cli {

/// An instance, and how often it was chosen.
struct Share {
    Found found = {};
    std::size_t chosen = 0;
};

/// With a bar each, the longest for who was chosen most.
Table distribution_table(std::span<Share const> shares);

/// What `list` prints, with `chosen` in each.
boost::json::value distribution_json(std::span<Share const> shares);

}  // namespace rollcall::cli
