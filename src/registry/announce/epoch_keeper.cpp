#include "registry/announce/epoch_keeper.hpp"

#include <array>
#include <random>
#include <utility>

#include "redis/request.hpp"
#include "redis/response.hpp"

namespace rollcall::announce {

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

EpochKeeper::EpochKeeper(redis::ClientCore& core, std::string key, std::function<void()> on_doubt)
    : core_(core), key_(std::move(key)), on_doubt_(std::move(on_doubt)) {}

void EpochKeeper::start() {
    started_ = true;
    auto const tracks = core_.subscriber().track(*this, key_);
    if (tracks) return;
    core_.log().write(LogLevel::warning, "tracking",
                      tracks.error().detail() + "; that Redis lost its data will be found late");
}

void EpochKeeper::stop() {
    if (std::exchange(started_, false)) core_.subscriber().detach(*this);
}

Task<Result<std::optional<GenerationNumber>>> EpochKeeper::assert_epoch(Deadline deadline) {
    auto const epoch = random_epoch();
    std::array<std::string_view, 3> const arguments{key_, epoch, "NX"};
    redis::Request request;
    redis::Response replies;
    request.push("SET", arguments);
    ask_generation(request, key_);
    auto const sent = co_await core_.session().exec(request, replies, deadline);
    if (!sent) co_return sent.error();
    if (replies[0].is_error()) warn(replies[0]);
    auto found = generation_of(replies, 1);
    if (found.has_error()) co_return found.error();
    std::optional<GenerationNumber> number;
    if (found->generation) number = number_of(*std::move(found->generation));
    co_return number;
}

void EpochKeeper::warn(redis::Value refusal) {
    auto const why = redis::failure_of(refusal, "writing the epoch " + key_);
    if (is_transient(why.code()) || std::exchange(warned_, true)) return;
    core_.log().write(
        LogLevel::warning, "epoch",
        why.detail() + "; readers can tell removal from loss only if others write it");
}

GenerationNumber EpochKeeper::number_of(Generation generation) {
    if (number_ == 0 || generation != last_) {
        last_ = std::move(generation);
        ++number_;
    }
    return number_;
}

}  // namespace rollcall::announce
