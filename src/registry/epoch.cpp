#include "registry/epoch.hpp"

#include <array>
#include <random>

#include "redis/session.hpp"

namespace rollcall {

std::string epoch_key_of(std::string_view prefix) {
    return std::string{prefix} + ":rollcall:epoch";
}

std::string random_epoch() {
    constexpr std::string_view digits = "0123456789abcdef";
    constexpr int bits = 32;
    std::random_device source;
    std::string epoch;
    for (int word = 0; word < 4; ++word) {
        auto value = source();
        for (int shift = 0; shift < bits; shift += 4, value >>= 4U) epoch += digits[value & 15U];
    }
    return epoch;
}

void push_epoch(redis::Request& request, std::string_view key) {
    auto const epoch = random_epoch();
    std::array<std::string_view, 3> const arguments{key, epoch, "NX"};
    request.push("SET", arguments);
}

std::optional<std::string> epoch_refusal(redis::Value reply, std::string_view key) {
    if (!reply.is_error()) return std::nullopt;
    auto const why = redis::failure_of(reply, "writing the epoch " + std::string{key});
    if (is_transient(why.code())) return std::nullopt;
    return why.detail() + "; readers can tell removal from loss only if others write it";
}

}  // namespace rollcall
