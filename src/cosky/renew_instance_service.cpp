#include "rollcall/cosky/renew_instance_service.hpp"

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <pthread.h>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include "cosky/namespace_sweeps.hpp"
#include "cosky/round_schedule.hpp"
#include "redis/client_core.hpp"
#include "redis/event.hpp"
#include "redis/late_threads.hpp"
#include "redis/signal_block.hpp"
#include "registry/sweeper.hpp"

namespace rollcall::cosky {
namespace {

using Clock = RoundSchedule::Clock;

RenewProperties checked(RenewProperties properties, ServiceRegistry const& registry) {
    validate(properties, registry.properties());
    return properties;
}

/// Sweeps where instances are renewed.
class Housekeeping {
public:
    Housekeeping(std::shared_ptr<redis::ClientCore> const& core, std::chrono::milliseconds period)
        : sweeps_(std::make_shared<NamespaceSweeps>(core)),
          sweeper_(core, sweeps_, {.delay = period, .period = period}) {}

    void follow(std::vector<RenewedInstance> const& round) {
        std::set<std::string> namespaces;
        for (auto const& one : round) {
            bool const own = one.renewal != Renewal::removed && one.renewal != Renewal::released;
            if (own && !namespaces.contains(one.ns)) namespaces.insert(one.ns);
        }
        sweeps_->set_namespaces(std::move(namespaces));
        sweeper_.start();
    }

private:
    std::shared_ptr<NamespaceSweeps> sweeps_;
    Sweeper sweeper_;
};

}  // namespace

/// Has one thread at most. A stop where nobody may wait leaves that thread its way to the end, and
/// a start meanwhile takes it on again, so that two rounds never overlap.
struct RenewInstanceService::Impl : std::enable_shared_from_this<Impl> {
    Impl(ServiceRegistry& renewed, RenewProperties const& given, Hook called)
        : registry(renewed), core(renewed.core()), properties(given), hook(std::move(called)) {}

    void start();
    void stop() noexcept;
    void end() noexcept;
    bool may_wait() const noexcept;
    bool is_forked() const noexcept { return ::getpid() != owner; }

    void run();
    std::optional<std::uint64_t> next_turn();
    void rounds(std::uint64_t mine);
    void round(std::uint64_t mine, std::optional<Housekeeping>& housekeeping);
    bool goes_on(std::uint64_t mine);
    bool wait_until(Clock::time_point when, std::uint64_t mine);

    ServiceRegistry& registry;
    std::shared_ptr<redis::ClientCore> const core;  // Null for a registry of the user's.
    RenewProperties const properties;
    Hook const hook;
    pid_t const owner = ::getpid();

    std::mutex mutex;
    // Guarded by the mutex.
    std::condition_variable changed;
    bool running = false;
    std::uint64_t turn = 0;  // Of the last start.
    bool alive = false;      // The thread: it decides on its end with the mutex held.
    bool over = false;       // No start any more.
    std::thread thread;
    std::shared_ptr<redis::Event> thread_ended;
};

bool RenewInstanceService::Impl::goes_on(std::uint64_t mine) {
    std::lock_guard const lock{mutex};
    return running && turn == mine;
}

/// False: it has been stopped.
bool RenewInstanceService::Impl::wait_until(Clock::time_point when, std::uint64_t mine) {
    std::unique_lock lock{mutex};
    return !changed.wait_until(lock, when, [&] { return !running || turn != mine; });
}

void RenewInstanceService::Impl::round(std::uint64_t mine,
                                       std::optional<Housekeeping>& housekeeping) {
    auto const all = registry.renew_registered(properties.period);
    if (core && properties.sweep_period.count() > 0) {
        if (!housekeeping) housekeeping.emplace(core, properties.sweep_period);
        housekeeping->follow(all);
    }
    for (auto const& renewed : all) {
        bool const living = renewed.renewal == Renewal::renewed ||
                            renewed.renewal == Renewal::registered_again ||
                            renewed.renewal == Renewal::reclaimed;
        if (!living || !hook) continue;
        if (!goes_on(mine)) return;
        try {
            hook(renewed);
        } catch (...) {  // It is told of the others all the same.
            continue;
        }
    }
}

void RenewInstanceService::Impl::rounds(std::uint64_t mine) {
    RoundSchedule schedule{Clock::now() + properties.initial_delay, properties.period,
                           std::minstd_rand{std::random_device{}()}};
    std::optional<Housekeeping> housekeeping;
    while (wait_until(schedule.next(), mine)) {
        try {
            round(mine, housekeeping);
        } catch (...) {  // A registry of the user's may throw anything: the next round goes on.
            if (core) core->log().write(LogLevel::warning, "renewal", "a round of renewals threw");
        }
        schedule.advance(Clock::now());
    }
}

/// None: the thread ends.
std::optional<std::uint64_t> RenewInstanceService::Impl::next_turn() {
    std::lock_guard const lock{mutex};
    if (running) return turn;
    alive = false;
    changed.notify_all();
    return std::nullopt;
}

void RenewInstanceService::Impl::run() {
    ::pthread_setname_np(::pthread_self(), "rollcall-renew");
    while (auto const mine = next_turn()) rounds(*mine);
}

void RenewInstanceService::Impl::start() {
    if (is_forked()) return;
    std::lock_guard const lock{mutex};
    if (running || over) return;
    if (!alive) {
        if (thread.joinable()) thread.join();  // It has ended, or is about to.
        redis::expect_late_threads();
        redis::SignalBlock const no_signals;
        thread_ended = std::make_shared<redis::Event>();
        thread = std::thread{[self = shared_from_this(), ended = thread_ended] {
            self->run();
            ended->set();
        }};
        alive = true;
    }
    running = true;
    ++turn;
    changed.notify_all();
}

/// A round needs the I/O thread, and the thread of the rounds cannot wait for itself.
bool RenewInstanceService::Impl::may_wait() const noexcept {
    return thread.get_id() != std::this_thread::get_id() &&
           !(core && core->io().get_executor().running_in_this_thread());
}

void RenewInstanceService::Impl::stop() noexcept {
    if (is_forked()) return;
    std::unique_lock lock{mutex};
    running = false;
    changed.notify_all();
    if (!may_wait()) return;
    changed.wait(lock, [this, stopped = turn] { return !alive || turn != stopped; });
    if (!alive && thread.joinable()) thread.join();  // A child forked from now on has none of it.
}

void RenewInstanceService::Impl::end() noexcept {
    {
        std::lock_guard const lock{mutex};
        over = true;
    }
    stop();
    std::lock_guard const lock{mutex};
    if (!thread.joinable()) return;
    if (may_wait()) {
        thread.join();
    } else {
        redis::leave_behind(std::move(thread), thread_ended);  // It owns this object, too.
    }
}

RenewInstanceService::RenewInstanceService(ServiceRegistry& registry, RenewProperties properties,
                                           Hook hook)
    : impl_(std::make_shared<Impl>(registry, checked(properties, registry), std::move(hook))) {}

RenewInstanceService::~RenewInstanceService() {
    if (!impl_->is_forked()) {
        impl_->end();
    } else {  // The thread is not there, and its handle cannot be destroyed.
        (void)std::make_unique<std::shared_ptr<Impl>>(std::move(impl_)).release();
    }
}

void RenewInstanceService::start() { impl_->start(); }
void RenewInstanceService::stop() noexcept { impl_->stop(); }

bool RenewInstanceService::is_running() const noexcept {
    if (impl_->is_forked()) return false;
    std::lock_guard const lock{impl_->mutex};
    return impl_->running;
}

}  // namespace rollcall::cosky
