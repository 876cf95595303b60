#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>

#include "registry/live/holder.hpp"
#include "registry/live/slot.hpp"

namespace rollcall::live {

/// A reference to a value that a cell had: keeps it, on any thread, for as long as it is held.
template <class T>
class Ref {
public:
    explicit Ref(Holder* adopted) noexcept : holder_(adopted) {}
    Ref(Ref const& other) noexcept : holder_(other.holder_) {
        if (holder_ != nullptr) holder_->retain();
    }
    Ref(Ref&& other) noexcept : holder_(std::exchange(other.holder_, nullptr)) {}
    Ref& operator=(Ref other) noexcept {
        std::swap(holder_, other.holder_);
        return *this;
    }
    ~Ref() {
        if (holder_ != nullptr) holder_->release();
    }

    T const& operator*() const noexcept { return *static_cast<T const*>(holder_->raw); }
    T const* operator->() const noexcept { return &**this; }

    /// Gives the reference away, as it is counted.
    Holder* detach() && noexcept { return std::exchange(holder_, nullptr); }

private:
    Holder* holder_;
};

/// A value that is replaced now and then and read all the time.
///
/// Cost of `get()`: a comparison of two numbers and a plain increment, nothing that other threads
/// write. After a publication the first read of each thread allocates, and takes a mutex that is
/// held for as long as a pointer is copied.
/// A read never goes back behind what the same thread read before, nor behind what it was told of
/// by any means that synchronises.
/// Thread safety: all members.
/// Lifetime: references outlive the cell. A thread keeps the value that it read last until it reads
/// a later one, or ends. Of a cell that is gone: until it ends the cell itself, or is the first to
/// read a publication of any other.
template <class T>
class Cell {
public:
    explicit Cell(std::shared_ptr<T const> first) { publish(std::move(first)); }
    ~Cell() { forget(slot_.number()); }
    Cell(Cell const&) = delete;
    Cell& operator=(Cell const&) = delete;

    void publish(std::shared_ptr<T const> value) {
        std::lock_guard const lock{mutex_};
        value_.swap(value);
        version_.store(next_version(), std::memory_order_release);
        // What was there before ends with the parameter, after the mutex is free.
    }

    /// Errors: `std::bad_alloc`, after a publication only.
    Ref<T> get() const {
        auto const* const entry = current();
        if (entry == nullptr) [[unlikely]]
            return Ref<T>{refresh()};
        ++entry->holder->local;
        return Ref<T>{entry->holder};
    }

    /// What `get()` would give if that needed nothing but a look: null else. Valid until this
    /// thread reads from this cell again; callers must not run code of others meanwhile.
    T const* peek() const noexcept {
        auto const* const entry = current();
        return entry == nullptr ? nullptr : static_cast<T const*>(entry->holder->raw);
    }

private:
    Seen const* current() const noexcept {
        auto const slot = slot_.number();
        if (slot >= thread_state.size) [[unlikely]]
            return nullptr;
        auto const* const entry = thread_state.seen + slot;
        // Nothing that was written before the publication is read through this: the value of the
        // entry is this thread's. Equality only says that no later one is visible.
        if (entry->version != version_.load(std::memory_order_acquire)) [[unlikely]]
            return nullptr;
        return entry;
    }

    [[gnu::noinline]] Holder* refresh() const {
        std::shared_ptr<T const> value;
        std::uint64_t version = 0;
        {
            std::lock_guard const lock{mutex_};
            value = value_;
            version = version_.load(std::memory_order_relaxed);
        }
        return remember(slot_.number(), version, std::move(value));
    }

    // What every read looks at shares no line with what is written more often.
    alignas(64) std::atomic<std::uint64_t> version_ = 0;
    Slot const slot_;
    alignas(64) mutable std::mutex mutex_;
    std::shared_ptr<T const> value_;
};

}  // namespace rollcall::live
