#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "registry/live/follower.hpp"

namespace rollcall::live {

/// The messages that followers are not told of yet, as what they are about is still to be read.
/// Bounded: what is too much is left out, and shows in what the reads change.
///
/// Thread safety: one thread at a time.
class HeardMessages {
public:
    static constexpr std::size_t most = 10'000;
    static constexpr std::size_t most_bytes = std::size_t{16} << 20;

    /// `bytes`: what it took on the wire.
    void add(HeardMessage message, std::size_t bytes);

    /// This read is made now, one at a time.
    void ask(FeedRead const& read);

    /// That read has ended: the messages that it answers if it is complete, in their order.
    std::vector<HeardMessage> end(bool complete);

private:
    struct Waiting {
        HeardMessage message;
        std::size_t bytes = 0;
        bool asked = false;  // The read under way reads what it is about.
    };

    std::vector<Waiting> waiting_;
    std::size_t bytes_ = 0;
};

}  // namespace rollcall::live
