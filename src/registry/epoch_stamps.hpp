#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "redis/client_core.hpp"

namespace rollcall {

/// Sees to it that data in which a process writes has an epoch, without a round trip: where it may
/// have none, one is written along with what is written next. For who watches nothing; who does is
/// an `announce::EpochKeeper`.
///
/// That is so at the first writing over each connection, when something was found gone, and ten
/// seconds after the last time, for a flush that nobody told of.
///
/// Thread safety: the I/O thread only, construction aside.
class EpochStamps {
public:
    explicit EpochStamps(redis::ClientCore& core);
    ~EpochStamps();
    EpochStamps(EpochStamps const&) = delete;
    EpochStamps& operator=(EpochStamps const&) = delete;

    /// Something is about to be written where the epoch is `key`. What is sent then is in front of
    /// it, and nobody waits for its answer; where writing is refused, one warning.
    void before_write(std::string_view key);
    /// What was written is not there any more, perhaps because the data is not.
    void doubt(std::string_view key);

private:
    struct Shared;
    struct Stamp;
    std::shared_ptr<Stamp> stamp(std::string_view key);

    std::shared_ptr<Shared> shared_;
    std::map<std::string, std::shared_ptr<Stamp>, std::less<>> stamps_;
};

}  // namespace rollcall
