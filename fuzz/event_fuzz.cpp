// A message on the channel of a service in the layout of redis-streaming.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/text.hpp"
#include "require.hpp"

#include "rollcall/streaming/service_change_event.hpp"

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    using namespace rollcall;
    using fuzz::require;
    auto const event = streaming::parse_message({reinterpret_cast<char const*>(data), size});
    if (!event) return 0;
    require(!event->instance_id.empty(), "a message names an instance");
    if (event->instance) {
        for (auto const& [key, value] : event->instance->metadata) {
            require(key != "@class", "the type of a map is no metadata");
            require(is_utf8(key) && is_utf8(value), "metadata is UTF-8");
        }
    }
    auto const again = streaming::parse_message(to_message(*event));
    require(again.has_value(), "what we write of it is read");
    require(again->action == event->action && again->timestamp == event->timestamp,
            "and says the same");
    return 0;
}
