#include "streaming/change_publisher.hpp"

#include <array>
#include <cstddef>
#include <memory>
#include <string_view>

#include "registry/exchange.hpp"
#include "streaming/service_keys.hpp"

namespace rollcall::streaming {
namespace {

constexpr std::size_t messages_per_request = 256;

}  // namespace

Task<bool> publish_changes(RegistryLuaScriptExecutor const& scripts,
                           std::span<ServiceChangeEvent const> events, Deadline deadline) {
    if (events.empty()) co_return true;
    auto const exchanges = std::make_shared<Exchanges>((events.size() + messages_per_request - 1) /
                                                       messages_per_request);
    for (std::size_t i = 0; i < events.size(); ++i) {
        auto const channel = ServiceKeys{scripts.keys().prefix(), events[i].service_name}.changes();
        auto const message = to_message(events[i]);
        std::array<std::string_view, 2> const arguments{channel, message};
        (*exchanges)[i / messages_per_request].request.push("PUBLISH", arguments);
    }
    co_await exec_all(scripts.core().session(), exchanges, deadline);
    bool all = true;
    for (std::size_t i = 0; i < events.size(); ++i) {
        auto const& exchange = (*exchanges)[i / messages_per_request];
        if (exchange.failure) {
            all = false;
            scripts.core().log().write(
                LogLevel::warning, "maybe-not-announced",
                "changes of " + events[i].service_name +
                    " were stored, but perhaps not announced: " + exchange.failure->detail());
        } else if (auto const reply = exchange.response[i % messages_per_request];
                   reply.is_error()) {
            all = false;
            scripts.note_refused(events[i].service_name, reply.text());
        }
    }
    co_return all;
}

}  // namespace rollcall::streaming
