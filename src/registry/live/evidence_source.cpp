#include "registry/live/evidence_source.hpp"

#include <utility>

namespace rollcall::live {
namespace {

Task<Result<GenerationRead>> ask_for_generation(std::shared_ptr<redis::ClientCore> core,
                                                std::string epoch_key) {
    co_return co_await read_generation(core->session(), epoch_key, core->deadline());
}

Task<Result<bool>> ask_for_pong(std::shared_ptr<redis::ClientCore> core) {
    auto const pong = co_await core->subscriber().ping(core->deadline());
    // What is written is heard of at the same server only.
    co_return pong.has_value() && core->at_one_server();
}

}  // namespace

EvidenceSource::EvidenceSource(std::shared_ptr<redis::ClientCore> core, std::string epoch_key)
    : epoch_key_(std::move(epoch_key)),
      generation_([core, key = epoch_key_] { return ask_for_generation(core, key); }),
      ping_([core] { return ask_for_pong(core); }) {}

std::optional<GenerationNumber> EvidenceSource::number_of(GenerationRead const& before,
                                                          GenerationRead const& after) {
    if (!after.generation || before.generation != after.generation ||
        !before.same_connection(after)) {
        return std::nullopt;
    }
    if (last_ != after.generation) {
        last_ = after.generation;
        ++number_;
    }
    return number_;
}

}  // namespace rollcall::live
