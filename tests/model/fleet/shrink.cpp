#include <algorithm>
#include <string>
#include <utility>

#include "model/fleet/fleet.hpp"

namespace rollcall::test::fleet {
namespace {

Steps without(Steps const& steps, std::size_t first, std::size_t count) {
    auto rest = steps;
    auto const begin = rest.begin() + static_cast<std::ptrdiff_t>(first);
    rest.erase(begin, begin + static_cast<std::ptrdiff_t>(std::min(count, rest.size() - first)));
    return rest;
}

/// What is wrong, whoever it is about and however long it lasted.
std::string kind_of(std::string const& wrong) {
    auto text = wrong.substr(wrong.find(": ") + 1);
    std::erase_if(text, [](char c) { return (c >= '0' && c <= '9') || c == '.'; });
    return text;
}

}  // namespace

Shrunk shrink(Scene scene, std::size_t most_runs) {
    Shrunk best{scene, run(scene), 1};
    if (best.report.wrong.empty()) return best;
    std::erase_if(scene.steps, [&](Step const& step) { return step.at > best.report.lasted; });
    best.scene = scene;
    auto const kind = kind_of(best.report.wrong);
    auto const still_fails = [&](Scene const& tried) {
        ++best.runs;
        auto report = run(tried);
        if (report.wrong.empty() || kind_of(report.wrong) != kind) return false;
        best.scene = tried;
        best.report = std::move(report);
        return true;
    };
    for (auto chunk = std::max<std::size_t>(1, scene.steps.size() / 2); chunk > 0;) {
        bool any = false;
        for (std::size_t at = 0; at < best.scene.steps.size() && best.runs < most_runs;) {
            auto tried = best.scene;
            tried.steps = without(tried.steps, at, chunk);
            if (still_fails(tried)) {
                any = true;
            } else {
                at += chunk;
            }
        }
        // The last round, of single steps, is repeated as long as it helps.
        if (chunk > 1) {
            chunk /= 2;
        } else if (!any || best.runs >= most_runs) {
            break;
        }
    }
    best.report = run(best.scene, true);
    return best;
}

}  // namespace rollcall::test::fleet
