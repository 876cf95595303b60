#pragma once

#include <memory>

namespace rollcall::redis {

class ClientCore;

/// The owner of a coroutine that runs beside its callers: see `ClientCore::spawn`.
///
/// Thread safety: one thread at a time. On the I/O thread `stop` cannot wait: what the coroutine
/// uses must then be kept alive by the coroutine's own parameters.
class Background {
public:
    Background() = default;
    ~Background() { stop(); }
    Background(Background&&) noexcept = default;
    Background& operator=(Background&& other) noexcept;

    /// Cancels the coroutine and waits for its end. In a forked child: does nothing.
    void stop() noexcept;

private:
    friend class ClientCore;
    struct State;
    Background(std::shared_ptr<ClientCore> core, std::shared_ptr<State> state)
        : core_(std::move(core)), state_(std::move(state)) {}

    std::shared_ptr<ClientCore> core_;
    std::shared_ptr<State> state_;  // Null when there is nothing to stop.
};

}  // namespace rollcall::redis
