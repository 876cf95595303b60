#pragma once

#include <memory>
#include <string>

#include "redis/background.hpp"
#include "redis/client_core.hpp"

namespace rollcall::announce {

/// Has the data in Redis always have an epoch, for as long as it lives: for a process that writes
/// and announces nothing.
///
/// Thread safety: as of `redis::Background`.
class EpochWriter {
public:
    EpochWriter(std::shared_ptr<redis::ClientCore> const& core, std::string key);

private:
    redis::Background work_;
};

}  // namespace rollcall::announce
