#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>

#include "cli/async_calls.hpp"
#include "cli/context.hpp"

#include "rollcall/registry.hpp"

namespace rollcall::cli {

/// Watches the whole namespace, and says from time to time what it sees.
class NamespaceReport {
public:
    NamespaceReport(boost::asio::io_context& loop, Context& context,
                    std::chrono::milliseconds period);

private:
    void wait();
    void ask();
    void tell(Result<ServerFacts> const& facts);

    Logger& logger_;
    std::chrono::milliseconds const period_;
    Registry const registry_;
    Watch const watch_;  // What keeps all services watched.
    RegistryStats last_;
    boost::asio::steady_timer timer_;
    AsyncCalls calls_;
};

}  // namespace rollcall::cli
