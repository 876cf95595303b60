#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "redis/client_core.hpp"
#include "redis/server_watch.hpp"
#include "registry/generation.hpp"
#include "registry/live/shared_question.hpp"
#include "registry/live/sighting.hpp"

namespace rollcall::live {

/// What all services of one layout ask when they need proof: which generation the data is of, and
/// whether all messages have arrived. Those who ask at the same time share the questions.
///
/// Thread safety: the I/O thread only, construction aside.
class EvidenceSource {
public:
    /// `core` is there whenever something is asked.
    EvidenceSource(redis::ClientCore& core, std::string epoch_key);

    std::string const& epoch_key() const noexcept { return epoch_key_; }

    Task<Result<GenerationRead>> generation() { return generation_.ask(); }
    /// Whether a PING came back on the connection for pushes: then every message that was sent
    /// before it has reached its handler. Not while the other connection is at another server.
    Task<Result<bool>> all_messages_arrived() {
        lines_->pushes = &core_.subscriber();
        return ping_.ask();
    }

    /// The number of the generation that both reads saw by the same connection; none if they did
    /// not, or there is none.
    std::optional<GenerationNumber> number_of(GenerationRead const& before,
                                              GenerationRead const& after);

private:
    /// What a question uses, which may outlive those who asked: it must never be the last owner of
    /// a client, whose thread it runs on. All of it is there for as long as that thread.
    struct Lines {
        redis::Session& session;
        std::shared_ptr<redis::ServerWatch> servers;
        std::chrono::milliseconds timeout;
        redis::Subscriber* pushes = nullptr;  // Set before it is asked.
    };
    static Task<Result<GenerationRead>> ask_for_generation(std::shared_ptr<Lines> lines,
                                                           std::string epoch_key);
    static Task<Result<bool>> ask_for_pong(std::shared_ptr<Lines> lines);

    redis::ClientCore& core_;
    std::string const epoch_key_;
    std::shared_ptr<Lines> const lines_;
    SharedQuestion<GenerationRead> generation_;
    SharedQuestion<bool> ping_;
    // The last one, and how many there were: a generation that comes back is another one to us,
    // which only makes us ask once more.
    std::optional<Generation> last_;
    GenerationNumber number_ = 0;
};

}  // namespace rollcall::live
