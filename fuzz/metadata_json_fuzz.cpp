// A metadata document: the fast path against the parser, and what is read against what is written.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/text.hpp"
#include "require.hpp"
#include "streaming/admin_values.hpp"
#include "streaming/json_map.hpp"

#include "rollcall/streaming/instance_entry_codec.hpp"

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    using namespace rollcall;
    using namespace rollcall::streaming;
    using fuzz::require;

    std::string_view const text{reinterpret_cast<char const*>(data), size};
    auto const parsed = read_json_map_by_parser(text);
    if (Metadata fast; read_flat_json_map(text, fast)) {
        require(parsed == fast, "the fast path reads what the parser reads");
    }
    auto const members = read_json_map(text);
    require(members == parsed, "both ways give the same");
    require(read_admin_values(text).has_value() == members.has_value(),
            "typed values are there when the map is");
    if (!members) return 0;
    for (auto const& [key, value] : *members) {
        require(is_utf8(key) && is_utf8(value), "texts are UTF-8");
    }
    require(read_json_map(InstanceEntryCodec::metadata_json(*members)) == members,
            "what is written is read back");
    return 0;
}
