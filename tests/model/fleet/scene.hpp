#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "model/fleet/timeline.hpp"

namespace rollcall::test::fleet {

enum class Layout : std::uint8_t { streaming, cosky };

/// What somebody or something does to the fleet, at a planned moment.
enum class Act : std::uint8_t {
    // Owners. `who` is one of them, `what` a service.
    announce,
    release,
    describe,
    die,  ///< Killed; another process with the same ids begins `lasts` later.
    // Operators.
    remove,  ///< Deregisters somebody's instance.
    drain,   ///< Marks it as drained for `lasts`.
    // Single keys.
    evict_hash,
    // Connections. `who` is any process.
    cut,
    block,    ///< Nothing passes for `lasts`, and nothing closes.
    slow,     ///< Everything takes long for `lasts`.
    garbage,  ///< A message that nobody can read, about service `what`.
    // Redis.
    kill_clients,
    block_all,
    flush,
    restart,  ///< With its data, after `lasts`.
    restart_empty,
    fail_over,  ///< To a copy that is `behind`, after `lasts`.
};
inline constexpr int act_count = static_cast<int>(Act::fail_over) + 1;

struct Step {
    milliseconds at{0};  ///< Since the beginning.
    Act act = Act::announce;
    std::uint8_t who = 0;
    std::uint8_t what = 0;
    milliseconds lasts{0};
    milliseconds behind{0};
};
using Steps = std::vector<Step>;

/// What kind of program an owner is.
enum class Kind : std::uint8_t { announcer, java_module, cosky_jvm };

/// Deliberately broken owners, to show that they are found.
enum class Defect : std::uint8_t {
    none,
    registers_released,  ///< As a late update of a status did in other registries.
    late_answer,         ///< A registration that was not answered is sent until it is.
    no_reassertion,      ///< Another connection or generation calls for nothing.
    any_generation,      ///< Takes whatever is gone for removed by somebody.
};

/// A fleet and what happens to it. Nothing else decides what a run does.
struct Scene {
    std::uint64_t seed = 1;
    Layout layout = Layout::streaming;
    Defect defect = Defect::none;
    std::size_t services = 3;
    std::vector<Kind> owners = {};
    std::vector<milliseconds> skews = {};  ///< Of the clocks of the owners' machines.
    std::size_t readers = 2;
    milliseconds lasts{0};
    Steps steps = {};  ///< In order.

    std::size_t processes() const { return owners.size() + readers; }
    std::size_t members() const { return owners.size() * services; }
};

/// Draws a fleet that lives for an hour, the last quarter of it in peace.
Scene make_scene(std::uint64_t seed, Layout layout);

std::string to_string(Step const& step);
std::string to_string(Layout layout);
std::string in_seconds(milliseconds time);

/// The layout's defaults.
milliseconds lease_of(Layout layout);
inline constexpr milliseconds heartbeat{10'000};

}  // namespace rollcall::test::fleet
