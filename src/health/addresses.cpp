#include "health/addresses.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <memory>
#include <thread>

#include "core/text.hpp"
#include "redis/event.hpp"
#include "redis/late_threads.hpp"
#include "redis/signal_block.hpp"

namespace rollcall::health {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

/// Kept by the thread, too. Read by others only behind `ended`.
struct LookUp {
    std::string host;
    boost::system::error_code error;
    std::vector<asio::ip::address> found;
    std::exception_ptr thrown;

    void run() noexcept {
        try {
            asio::io_context loop{1};
            tcp::resolver resolver{loop};
            for (auto const& each : resolver.resolve(host, "", error)) {
                found.push_back(each.endpoint().address());
            }
        } catch (...) {
            thrown = std::current_exception();
        }
    }
};

}  // namespace

std::vector<asio::ip::address> addresses_of(std::string const& host,
                                            std::chrono::milliseconds limit, std::string& failure) {
    boost::system::error_code not_an_address;
    auto const address = asio::ip::make_address(host, not_an_address);
    if (!not_an_address) return {address};

    auto const look_up = std::make_shared<LookUp>();
    look_up->host = host;
    auto const ended = std::make_shared<redis::Event>();
    redis::expect_late_threads();
    std::thread thread = [&] {
        redis::SignalBlock const block;
        return std::thread{[look_up, ended] {
            look_up->run();
            ended->set();
        }};
    }();
    if (!ended->wait_for(limit)) {
        redis::leave_behind(std::move(thread), ended, std::chrono::milliseconds::zero());
        failure = joined({"look up ", shown(host), ": timed out"});
        return {};
    }
    thread.join();
    if (look_up->thrown) std::rethrow_exception(look_up->thrown);
    if (look_up->error) {
        failure = joined({"look up ", shown(host), ": ", look_up->error.message()});
    }
    return std::move(look_up->found);
}

}  // namespace rollcall::health
