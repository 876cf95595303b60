#pragma once

#include <span>
#include <string>

#include "cli/print/table.hpp"
#include "registry/layout_port.hpp"

#include "rollcall/snapshot.hpp"

namespace rollcall::cli {

/// An instance of a live view as `list` shows it.
Found found_in(Snapshot const& view, ServiceInstance const& instance);

/// Whether its lease has run out while it is still stored.
bool is_silent(Found const& found) noexcept;

/// What readers may be sent to: enabled, healthy, and within its lease.
bool is_available(Found const& found) noexcept;

/// `up`, or what is not: `disabled,unhealthy`.
std::string state_text(Found const& found);

/// `wide` shows every field.
Table instance_table(std::span<Found const> instances, bool wide);

}  // namespace rollcall::cli
