#include "registry/announce/epoch_keeper.hpp"

#include <utility>

#include "redis/request.hpp"
#include "redis/response.hpp"
#include "registry/epoch.hpp"

namespace rollcall::announce {

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
    redis::Request request;
    redis::Response replies;
    push_epoch(request, key_);
    ask_generation(request, key_);
    auto const sent = co_await core_.session().exec(request, replies, deadline);
    if (!sent) co_return sent.error();
    if (auto const refusal = epoch_refusal(replies[0], key_);
        refusal && !std::exchange(warned_, true)) {
        core_.log().write(LogLevel::warning, "epoch", *refusal);
    }
    auto found = generation_of(replies, 1);
    if (found.has_error()) co_return found.error();
    std::optional<GenerationNumber> number;
    if (found->generation) number = number_of(*std::move(found->generation));
    co_return number;
}

GenerationNumber EpochKeeper::number_of(Generation generation) {
    if (number_ == 0 || generation != last_) {
        last_ = std::move(generation);
        ++number_;
    }
    return number_;
}

}  // namespace rollcall::announce
