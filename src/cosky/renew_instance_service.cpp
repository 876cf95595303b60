#include "rollcall/cosky/renew_instance_service.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <random>
#include <thread>
#include <unistd.h>
#include <utility>

namespace rollcall::cosky {
namespace {

using Clock = std::chrono::steady_clock;

RenewProperties checked(RenewProperties properties, ServiceRegistry const& registry) {
    validate(properties, registry.properties());
    return properties;
}

}  // namespace

struct RenewInstanceService::Impl {
    Impl(ServiceRegistry& renewed, RenewProperties const& given, Hook called)
        : registry(renewed), properties(given), hook(std::move(called)) {}

    void start();
    void stop() noexcept;
    void run();
    void round();
    bool wait_until(Clock::time_point when);
    std::chrono::milliseconds next_period();

    ServiceRegistry& registry;
    RenewProperties const properties;
    Hook const hook;
    pid_t const owner = ::getpid();
    std::minstd_rand random{std::random_device{}()};  // Of the thread of the rounds.

    std::mutex lifecycle;  // Of start and stop, which wait for each other.
    std::mutex mutex;
    // Guarded by the mutex.
    std::condition_variable changed;
    bool running = false;
    std::thread thread;
};

/// Jitter only shortens: readers reckon with the period as the longest pause.
std::chrono::milliseconds RenewInstanceService::Impl::next_period() {
    std::uniform_int_distribution<std::chrono::milliseconds::rep> shorter{
        0, properties.period.count() / 10};
    return properties.period - std::chrono::milliseconds{shorter(random)};
}

/// False: it has been stopped.
bool RenewInstanceService::Impl::wait_until(Clock::time_point when) {
    std::unique_lock lock{mutex};
    return !changed.wait_until(lock, when, [this] { return !running; });
}

void RenewInstanceService::Impl::round() {
    for (auto const& renewed : registry.renew_registered(properties.period)) {
        bool const alive = renewed.renewal == Renewal::renewed ||
                           renewed.renewal == Renewal::registered_again ||
                           renewed.renewal == Renewal::reclaimed;
        if (!alive || !hook) continue;
        try {
            hook(renewed);
        } catch (...) {  // It is told of the others all the same.
            continue;
        }
    }
}

void RenewInstanceService::Impl::run() {
    auto next = Clock::now() + properties.initial_delay;
    while (wait_until(next)) {
        try {
            round();
        } catch (std::exception const&) {  // A registry of the user's: the next round goes on.
            next = Clock::now();
        }
        // From beginning to beginning; a round that took longer is followed at once by one only.
        next = std::max(next + next_period(), Clock::now());
    }
}

void RenewInstanceService::Impl::start() {
    std::lock_guard const one_at_a_time{lifecycle};
    std::lock_guard const lock{mutex};
    if (std::exchange(running, true)) return;
    thread = std::thread{[this] { run(); }};
}

void RenewInstanceService::Impl::stop() noexcept {
    if (::getpid() != owner) return;
    std::lock_guard const one_at_a_time{lifecycle};
    std::thread ended;
    {
        std::lock_guard const lock{mutex};
        running = false;
        ended = std::move(thread);
    }
    changed.notify_all();
    if (ended.joinable()) ended.join();
}

RenewInstanceService::RenewInstanceService(ServiceRegistry& registry, RenewProperties properties,
                                           Hook hook)
    : impl_(std::make_unique<Impl>(registry, checked(properties, registry), std::move(hook))) {}

RenewInstanceService::~RenewInstanceService() {
    impl_->stop();
    // In a forked child the thread is not there, and its handle cannot be destroyed.
    if (impl_->thread.joinable()) (void)impl_.release();
}

void RenewInstanceService::start() { impl_->start(); }
void RenewInstanceService::stop() noexcept { impl_->stop(); }

bool RenewInstanceService::is_running() const noexcept {
    std::lock_guard const lock{impl_->mutex};
    return impl_->running;
}

}  // namespace rollcall::cosky
