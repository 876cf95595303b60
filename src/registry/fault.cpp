#include "registry/fault.hpp"

#include <cstddef>

namespace rollcall {

std::optional<Finding> Fault::finding() const {
    constexpr std::size_t shown = 5;
    if (where.empty()) return std::nullopt;
    auto all = std::string{text} + " (" + std::to_string(where.size()) + "): ";
    for (std::size_t i = 0; i < where.size() && i < shown; ++i) {
        if (i > 0) all += ", ";
        all += where[i];
    }
    if (where.size() > shown) all += ", …";
    auto result = make_finding(severity, std::string{topic}, std::move(all));
    result.repair = repair;
    return result;
}

}  // namespace rollcall
