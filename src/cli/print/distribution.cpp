#include "cli/print/distribution.hpp"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>
#include <string>

#include "cli/print/instance_table.hpp"
#include "cli/print/json_output.hpp"

namespace rollcall::cli {

namespace {

constexpr std::size_t longest_bar = 40;

/// Who was chosen at all has a mark.
std::string bar(std::size_t chosen, std::size_t most) {
    std::string text;
    if (chosen > 0) text.append(std::max<std::size_t>(chosen * longest_bar / most, 1), '#');
    return text;
}

}  // namespace

Table distribution_table(std::span<Share const> shares) {
    std::size_t sum = 0;
    std::size_t most = 0;
    for (auto const& share : shares) {
        sum += share.chosen;
        most = std::max(most, share.chosen);
    }
    Table table{{"ID", "WEIGHT", "STATE", "CHOSEN", "SHARE", "BAR"}};
    for (auto const& share : shares) {
        auto const& instance = share.found.instance;
        auto const percent =
            sum == 0 ? 0.0 : 100.0 * static_cast<double>(share.chosen) / static_cast<double>(sum);
        table.add({instance.instance_id, std::to_string(instance.weight), state_text(share.found),
                   std::to_string(share.chosen), fmt::format("{:.1f}%", percent),
                   bar(share.chosen, most)});
    }
    return table;
}

boost::json::value distribution_json(std::span<Share const> shares) {
    boost::json::array array;
    for (auto const& share : shares) {
        auto object = instance_json(share.found).as_object();
        object["chosen"] = share.chosen;
        array.push_back(std::move(object));
    }
    return array;
}

}  // namespace rollcall::cli
