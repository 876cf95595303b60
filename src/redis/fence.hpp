#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace rollcall::redis {

/// The connections that ended while something was unanswered. What was written on them may still
/// lie on its way, and must not be carried out behind what is written later: Redis is told to drop
/// them first. By their CLIENT IDs, which Redis gives once in its life, so each goes with the
/// `run_id` of that life.
class Fence {
public:
    struct Ended {
        std::string server = {};  ///< `run_id`.
        std::int64_t client_id = 0;

        friend bool operator==(Ended const&, Ended const&) = default;
    };

    /// The oldest is forgotten for one too many; one that nobody can name is none.
    void remember(Ended ended);
    std::vector<Ended> of(std::string_view server) const;
    void settle(Ended const& ended);

private:
    std::vector<Ended> ended_;
};

}  // namespace rollcall::redis
