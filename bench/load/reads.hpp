#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "load/cases.hpp"

#include "rollcall/instance.hpp"

namespace rollcall::bench {

/// How all instances of the service are read: by the library, and otherwise. Each throws when it
/// does not find them all.
struct Reading {
    std::string name = {};
    std::function<void()> ours = {};
    /// What asks for the Hash of an instance in the bare pipeline that Redis' CPU is compared with.
    std::vector<std::string_view> commands = {};
    std::function<void()> others = {};  ///< What the rate is compared with.
    std::string others_text = {};
    std::optional<double> at_least = {};  ///< Of the ratio of the rates.
};

/// Fills the stage and measures the ways in turn.
std::vector<Figure> measure_reading(Stage& stage, Effort const& effort, Reading const& reading);

void must_be_all(std::size_t found);
/// Throws unless it says what all instances of the stage say.
void must_be_one(ServiceInstance const& instance, Stage const& stage);

}  // namespace rollcall::bench
