// What is behind the checksum of a snapshot on disk; also as a whole file, which then is damaged.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "registry/disk/snapshot_format.hpp"
#include "require.hpp"

namespace {

using namespace rollcall;
using fuzz::require;

bool same(disk::SavedInstance const& one, disk::SavedInstance const& other) {
    return *one.instance == *other.instance && one.registered_at == other.registered_at &&
           one.last_heartbeat_at == other.last_heartbeat_at && one.lease_until == other.lease_until;
}

bool same(disk::SavedService const& one, disk::SavedService const& other) {
    if (one.instances.size() != other.instances.size()) return false;
    for (std::size_t i = 0; i < one.instances.size(); ++i) {
        if (!same(one.instances[i], other.instances[i])) return false;
    }
    return one.service == other.service && one.confirmed_at == other.confirmed_at;
}

void check(std::string_view file) {
    disk::Origin const origin{"s", "l", "n"};
    auto const read = disk::decode(file, origin, "web");
    require(read.saved.has_value() == read.why.empty(), "there is a snapshot or a reason");
    if (!read.saved) return;
    require(disk::time_of(file) == read.saved->confirmed_at, "the time is found");
    auto const again = disk::decode(disk::encode(origin, *read.saved), origin, "web");
    require(again.saved.has_value(), "what we write of it is read");
    require(same(*again.saved, *read.saved), "and says the same");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    std::string const bytes{reinterpret_cast<char const*>(data), size};
    check(bytes);
    check("rollcall snapshot 1\n" + disk::sha256(bytes) + bytes);
    return 0;
}
