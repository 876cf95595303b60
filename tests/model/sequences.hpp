#pragma once

#include <cstdint>
#include <gtest/gtest.h>
#include <set>
#include <string>
#include <vector>

#include "support/golden.hpp"
#include "support/redis_server.hpp"

#include "rollcall/client.hpp"

namespace rollcall::test {

/// What became of one random sequence of steps.
struct SequenceReport {
    std::uint64_t seed = 0;
    std::string prefix;              ///< What its keys and channels have before the first `:`.
    std::set<std::string> keys;      ///< All that its steps may write.
    std::vector<std::string> steps;  ///< Those that were made.
    std::vector<std::string> wrong;  ///< Of the last step.
    std::vector<golden::Message> messages;   ///< Those that should have been published.
    std::vector<std::size_t> message_steps;  ///< Which step each of them belongs to.
    std::set<std::size_t> unordered;         ///< Steps whose messages come in any order.
};

inline constexpr std::size_t steps_in_sequence = 24;

/// Runs sequences with one server and one client, many at once, and compares what they published
/// with what they should have. How many there are, `ROLLCALL_MODEL_SEQUENCES` says; with
/// `ROLLCALL_MODEL_SEED` there is one, with this number.
///
/// The sequences are shared out between the tests of a suite, so that no test takes long; the
/// parameter says which part this is.
class SequenceTest : public testing::TestWithParam<std::uint64_t> {
public:
    static constexpr std::uint64_t parts = 5;

protected:
    SequenceTest();

    /// Makes one sequence. Called on several threads at once.
    virtual SequenceReport run_sequence(std::uint64_t seed) = 0;

    /// The body of a test.
    void run_part();

    Client const& client() const noexcept { return client_; }

private:
    ClientOptions options() const;
    /// The sequences `first` … `first + count - 1`.
    std::vector<SequenceReport> run(std::uint64_t first, std::uint64_t count);
    void check_messages(std::vector<SequenceReport>& reports);
    void check_keys(std::vector<SequenceReport>& reports);

    RedisServer server_;
    RedisClient redis_;
    Listener listener_;
    Client client_;
};

}  // namespace rollcall::test
