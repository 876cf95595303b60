#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "model/fleet/world.hpp"

namespace rollcall::test::fleet {

/// What came of a run.
struct Report {
    std::string wrong;  ///< Empty: all was well, all the time.
    milliseconds lasted{0};
    std::uint64_t events = 0;
    Figures figures;
    std::string trace;  ///< What happened, a line each, if it was asked for.
};

/// A whole fleet on virtual time: owners, readers, a sweeper and Redis, and what its scene does to
/// them.
class Fleet {
public:
    explicit Fleet(Scene const& scene, bool traced = false);

    /// To the end of the scene, or until something is wrong.
    Report run();

private:
    std::unique_ptr<Process> new_owner(std::size_t number);
    void begin();
    void plan(Step const& step);
    void apply(Step const& step);
    void apply_to_owner(Step const& step);
    void apply_to_instance(Step const& step);
    void apply_to_path(Step const& step);
    void apply_to_redis(Step const& step);
    void stop_redis(Step const& step);
    void start_redis(Step const& step);
    void kill(std::size_t owner, milliseconds away);
    void cut_all();
    void sweep();
    Process& process(std::size_t number);

    World world_;
    std::vector<std::unique_ptr<Process>> owners_;
    std::vector<std::unique_ptr<Process>> readers_;
    std::vector<std::unique_ptr<Process>> dead_;  // Something may still be due for them.
    std::vector<std::uint64_t> incarnations_;
    std::vector<bool> away_;
    std::map<milliseconds, Redis::Copy> copies_;  // By the moment of the fail-over.
};

inline Report run(Scene const& scene, bool traced = false) { return Fleet{scene, traced}.run(); }

/// The same scene with as few of its steps as still end in the same way, and what they lead to.
struct Shrunk {
    Scene scene;
    Report report;
    std::size_t runs = 0;
};
Shrunk shrink(Scene scene, std::size_t most_runs = 600);

}  // namespace rollcall::test::fleet
