#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "registry/layout_port.hpp"

namespace rollcall {

/// What `doctor` finds wrong in one way, wherever it is.
struct Fault {
    std::string_view topic;
    std::string_view text;    ///< What the places are, in the plural.
    std::string_view repair;  ///< Empty: nothing is done about it.
    Finding::Severity severity = Finding::Severity::warning;
    std::vector<std::string> where = {};

    /// None without a place. Names some places only.
    std::optional<Finding> finding() const;
};

}  // namespace rollcall
