// The fields of a Hash: names and values, each ended by a NUL.

#include <boost/json/parse.hpp>
#include <cstddef>
#include <cstdint>
#include <string>

#include "core/text.hpp"
#include "fields.hpp"
#include "require.hpp"
#include "streaming/event_text.hpp"
#include "streaming/instance_snapshot.hpp"

#include "rollcall/streaming/instance_entry_codec.hpp"
#include "rollcall/streaming/protocol.hpp"

namespace {

using namespace rollcall;
using namespace rollcall::streaming;
using fuzz::require;

void check(ServiceInstance const& instance) {
    require(is_utf8(instance.host), "hosts are UTF-8");
    require(resolve_protocol(instance.scheme).name == instance.scheme, "schemes are known");
    require(instance.port >= 0, "ports are resolved");
    for (auto const& [key, value] : instance.metadata) {
        require(is_utf8(key) && is_utf8(value), "metadata is UTF-8");
    }
    auto const data = boost::json::parse(InstanceEntryCodec::build_instance_data(instance));
    require(data.at("metadata").as_object().size() == instance.metadata.size(),
            "documents carry all metadata");
    auto const message =
        to_message({ServiceChangeAction::added, "s", "i", std::chrono::milliseconds{1}, instance});
    require(message.find('\n') == std::string::npos, "messages are one line");
    require(boost::json::parse(message).at("instance").at("weight") == instance.weight,
            "messages are JSON");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    auto const fields = fuzz::fields_of({reinterpret_cast<char const*>(data), size});
    auto const stored = InstanceEntryCodec::parse_instance("s", "i", fields);
    auto const snapshot = parse_snapshot("s", "i", fields);
    if (stored) check(stored->instance);
    if (snapshot) check(*snapshot);
    return 0;
}
