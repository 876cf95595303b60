#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/java_text.hpp"

#include "rollcall/choose_options.hpp"
#include "rollcall/instance.hpp"

namespace rollcall::streaming {

using Candidates = std::span<ServiceInstance const>;

/// As balancers count it: of the metadata, if that is a number there, else of the instance; at
/// least 1. Source: spec 11.
inline std::uint32_t effective_weight(ServiceInstance const& instance) noexcept {
    auto weight = instance.weight;
    if (!instance.metadata.empty()) {
        auto const found = instance.metadata.find("weight");
        if (found != instance.metadata.end()) {
            weight = parse_java_int(found->second).value_or(weight);
        }
    }
    return static_cast<std::uint32_t>(std::max(weight, 1));
}

/// Whether somebody may be chosen.
class Wanted {
public:
    Wanted(Candidates candidates, ChooseOptions const& options) noexcept
        : candidates_(candidates), exclude_(options.exclude) {}

    bool all() const noexcept { return exclude_.empty(); }

    bool operator()(std::size_t i) const noexcept {
        return all() || std::ranges::find(exclude_, candidates_[i].instance_id) == exclude_.end();
    }

    /// The first at `from` or behind that is wanted; the number of candidates if there is none.
    std::size_t first(std::size_t from = 0) const noexcept {
        while (from < candidates_.size() && !(*this)(from)) ++from;
        return from;
    }

private:
    Candidates candidates_;
    std::span<std::string_view const> exclude_;
};

/// What is settled by there being none or one: `decided` says whether.
struct Forced {
    bool decided;
    ServiceInstance const* chosen;
    std::size_t first;  ///< The first that is wanted, if not decided.
};
inline Forced forced_choice(Candidates candidates, Wanted const& wanted) noexcept {
    auto const first = wanted.first();
    if (first == candidates.size()) return {true, nullptr, first};
    if (wanted.first(first + 1) == candidates.size()) return {true, &candidates[first], first};
    return {false, nullptr, first};
}

}  // namespace rollcall::streaming
