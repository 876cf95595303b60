#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "load/cases.hpp"
#include "load/redis_benchmark.hpp"
#include "load/series.hpp"
#include "load/stage.hpp"

namespace rollcall::bench {

/// redis-benchmark with one command: tries all pipelinings briefly, then measures the most
/// promising again in each repetition. The best by median counts.
class Rival {
public:
    Rival(Stage& stage, Command command, Effort const& effort);

    void repeat();

    Series const& best() const;
    std::string description() const;  ///< Of the best.

private:
    struct Candidate {
        Pipelining pipelining;
        Series series = {};
    };

    void try_all();
    void run(Candidate& candidate, std::size_t count);
    Candidate const& best_candidate() const;

    Stage& stage_;
    Command command_;
    Effort effort_;
    std::vector<Candidate> candidates_;
};

}  // namespace rollcall::bench
