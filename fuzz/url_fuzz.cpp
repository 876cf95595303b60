#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string_view>

#include "redis/url.hpp"

/// Any text is refused with `std::invalid_argument`, or gives a URL whose printed form reads back
/// as the same address.
extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    using rollcall::redis::Url;
    std::string_view const text{reinterpret_cast<char const*>(data), size};
    Url url;
    try {
        url = Url::parse(text);
    } catch (std::invalid_argument const&) {
        return 0;
    }
    auto again = Url::parse(url.to_string());
    again.user = url.user;
    again.password = url.password;
    if (again != url) std::abort();
    return 0;
}
