#include "registry/live/evidence_source.hpp"

#include <utility>

namespace rollcall::live {
EvidenceSource::EvidenceSource(redis::ClientCore& core, std::string epoch_key)
    : core_(core),
      epoch_key_(std::move(epoch_key)),
      lines_(new Lines{core.session(), core.servers(), core.request_timeout()}),
      generation_([lines = lines_, key = epoch_key_] { return ask_for_generation(lines, key); }),
      ping_([lines = lines_] { return ask_for_pong(lines); }) {}

Task<Result<GenerationRead>> EvidenceSource::ask_for_generation(std::shared_ptr<Lines> lines,
                                                                std::string epoch_key) {
    co_return co_await read_generation(lines->session, epoch_key, after(lines->timeout));
}

Task<Result<bool>> EvidenceSource::ask_for_pong(std::shared_ptr<Lines> lines) {
    auto const pong = co_await lines->pushes->ping(after(lines->timeout));
    // What is written is heard of at the same server only.
    co_return pong.has_value() && lines->servers->together();
}

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
