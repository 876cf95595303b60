#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include "redis/client_core.hpp"
#include "registry/layout_port.hpp"

namespace rollcall {

/// When expired instances are looked for: first after `delay`, then with pauses of `period`.
struct SweepSchedule {
    std::chrono::milliseconds delay{60'000};
    std::chrono::milliseconds period{30'000};
};

/// What can be swept: one prefix, or several namespaces. On the I/O thread.
class Swept {
public:
    virtual ~Swept() = default;

    /// As of `LayoutPort`.
    virtual Task<Result<SweepReport>> sweep_as_leader(std::chrono::milliseconds hold,
                                                      Deadline deadline) = 0;
    virtual Task<Result<void>> yield_sweeping(Deadline deadline) = 0;
};

/// Does the housekeeping of one prefix while it runs, if no other process does: whoever holds the
/// sweeping lease goes on doing it, and any other takes over within two periods of its death, or a
/// minute when its periods are longer.
///
/// Thread safety: one thread at a time.
class Sweeper {
public:
    /// Called with what each sweep of this process found, on the I/O thread.
    using OnReport = std::function<void(SweepReport const&)>;

    Sweeper(std::shared_ptr<redis::ClientCore> core, std::shared_ptr<Swept> swept,
            SweepSchedule schedule, OnReport on_report = {});
    Sweeper(std::shared_ptr<redis::ClientCore> core, std::shared_ptr<LayoutPort> port,
            SweepSchedule schedule, OnReport on_report = {});
    ~Sweeper();

    void start();  ///< Idempotent.
    /// Cuts a sweep short that is going on, and gives the lease up: less than 0.3 s. Idempotent.
    void stop() noexcept;

private:
    struct State;
    std::shared_ptr<redis::ClientCore> core_;
    std::shared_ptr<State> state_;
    redis::Background work_;
    bool running_ = false;
};

}  // namespace rollcall
