#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "core/deadline.hpp"

namespace rollcall::redis {

/// Whether a connection answers on which bytes arrive. That they do is no sign of it: a line may
/// deliver some in a minute, and messages may go on while answers do not. A long answer on a slow
/// line is one, and so are many from a slow server: what is measured is how long the oldest
/// question waits, and what came meanwhile.
class AnswerWatch {
public:
    /// So far, on all connections.
    struct Arrived {
        std::uint64_t answers = 0;  ///< Complete ones.
        std::uint64_t bytes = 0;
    };
    enum class Verdict {
        well,
        ask,   ///< Nothing is owed, and nothing was for a while.
        dead,  ///< What is owed does not come, and hardly anything else.
    };

    /// A connection that brings less than this while it owes an answer is none.
    static constexpr std::uint64_t bytes_in_second = 4'096;
    /// So a server may take a quarter of a second for each of many.
    static constexpr std::uint64_t worth_of_answer = 1'024;

    explicit AnswerWatch(std::chrono::milliseconds limit) : limit_(limit) {}

    void begin(Arrived arrived, Deadline now);
    /// For so long nobody could look.
    void excuse(std::chrono::steady_clock::duration held_up) { since_ += held_up; }
    /// `owed_since`: when the oldest question was sent that is not answered.
    Verdict look(Arrived arrived, std::optional<Deadline> owed_since, Deadline now);

private:
    bool enough(Arrived arrived, Deadline now) const;

    std::chrono::milliseconds const limit_;
    Arrived before_ = {};  // As of `since_`.
    Deadline since_ = {};
    Deadline begun_ = {};
    std::optional<Deadline> oldest_;
};

}  // namespace rollcall::redis
