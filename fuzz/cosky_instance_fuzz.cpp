// An instance id, and behind the first NUL the fields of a Hash: names and values, each ended by a
// NUL.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "core/text.hpp"
#include "fields.hpp"
#include "require.hpp"

#include "rollcall/cosky/instance_id.hpp"
#include "rollcall/cosky/service_instance_codec.hpp"

namespace {

using namespace rollcall;
using namespace rollcall::cosky;
using Codec = ServiceInstanceCodec;
using fuzz::require;

void check_id(std::string_view id) {
    auto const parts = parse_instance_id(id);
    if (!parts) return;
    auto const canonical = as_instance_id(*parts);
    require(parse_instance_id(canonical) == parts, "canonical ids are read as what they say");
    require(canonical == id || canonical.size() == id.size() + 2,
            "ids are canonical but for brackets");
    require(Codec::decode_host(Codec::encode_host(parts->host)) == parts->host,
            "hosts are read back");
}

ServiceInstance stored_and_read(ServiceInstance const& instance) {
    auto const texts = Codec::encode(instance);
    std::vector<Codec::Field> const fields{texts.begin(), texts.end()};
    auto const found = Codec::decode(fields);
    require(found.has_value(), "what is encoded describes an instance");
    return found->instance;
}

/// What may be registered is stored as one that may be registered, and read back so.
void check_validated(ServiceInstance instance) {
    instance.instance_id.clear();
    std::optional<ServiceInstance> stored;
    try {
        stored = validated(instance);
    } catch (std::invalid_argument const&) {
        return;
    }
    require(validated(*stored) == *stored, "validation is a fixed point");
    require(stored_and_read(*stored) == *stored, "validated instances are read back");
    InstanceIdParts const parts{stored->service_name, stored->scheme, stored->host, stored->port};
    require(parse_instance_id(stored->instance_id) == parts, "stored ids say what was registered");
}

void check_fields(std::string_view bytes) {
    auto const found = Codec::decode(fuzz::fields_of(bytes));
    if (!found) return;
    auto const& instance = found->instance;
    require(is_utf8(instance.scheme) && is_utf8(instance.host), "addresses are UTF-8");
    require(instance.port >= 0, "ports are resolved");
    for (auto const& [key, value] : instance.metadata) {
        require(is_utf8(key) && is_utf8(value), "metadata is UTF-8");
        require(!key.starts_with('_'), "system fields are no metadata");
    }
    require(stored_and_read(instance) == instance, "what was read is read back");
    check_validated(instance);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    std::string_view const bytes{reinterpret_cast<char const*>(data), size};
    auto const id = bytes.substr(0, bytes.find('\0'));
    check_id(id);
    check_fields(bytes.substr(std::min(bytes.size(), id.size() + 1)));
    return 0;
}
