#pragma once

#include "cli/async_calls.hpp"
#include "cli/logger.hpp"

namespace rollcall::cli {

/// Warns, once, when this Redis may evict entries. Says nothing when Redis does not tell.
class EvictionWarning {
public:
    EvictionWarning(boost::asio::io_context& loop, Backend const& backend, Logger& logger);

    /// To be called when Redis is known to answer; only the first call asks.
    void ask();

private:
    Logger& logger_;
    bool asked_ = false;
    AsyncCalls calls_;
};

}  // namespace rollcall::cli
