#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "rollcall/snapshot.hpp"

namespace rollcall::live {

struct Holder;

/// What a thread remembers of a cell: the version that it saw last, and the holder of its value.
struct Seen {
    std::uint64_t version = 0;
    Holder* holder = nullptr;
};

/// What a thread has for all cells. Lives apart from the table behind `seen`, which has a
/// destructor: this can be read before that is made and after it is gone.
struct ThreadState {
    std::uint64_t number = 0;  ///< Never given again; 0: no table yet, or no more.
    Seen* seen = nullptr;      ///< By slot number.
    std::uint32_t size = 0;
    bool over = false;  ///< The table is gone, and there will not be another.
};

// In a shared library every other model costs a call for each access, more than the rest of a read.
// `constinit` spares the check whether it has been made.
extern constinit thread_local ThreadState thread_state [[gnu::tls_model("initial-exec")]];

/// Keeps a value for one thread, and for everybody to whom references went from there. One for
/// each thread, cell and version.
///
/// References are counted in two places: those that the thread made and dropped itself in a plain
/// integer, which is what makes a read cheap; those that others make and drop in an atomic one,
/// which may well be negative: they drop what the thread made. The holder is not deleted before
/// the thread has retired it, which joins the two counts.
///
/// Why nothing is deleted too early or never: before `retire()` the word is even, and no release
/// deletes; it turns odd exactly once; after that exactly one operation makes it 1, no references
/// and retired, and that one deletes. A reference is copied only from one that exists, so that
/// `retain` need not order anything; releases and `retire` are acquire and release: every use of
/// the value happens before its end.
struct alignas(64) Holder : Held {
    Holder(std::shared_ptr<void const> kept, std::uint64_t owned_by) noexcept
        : Held{kept.get()}, value(std::move(kept)), owner(owned_by) {}

    void retain() noexcept {
        if (mine()) {
            ++local;
        } else {
            word.fetch_add(2, std::memory_order_relaxed);
        }
    }

    void release() noexcept {
        if (mine()) {
            --local;
        } else if (word.fetch_sub(2, std::memory_order_acq_rel) == 3) {
            end();
        }
    }

    /// By the owner only: it will not count here any more.
    void retire() noexcept {
        merged = true;
        auto const joined = 2 * local + 1;
        if (word.fetch_add(joined, std::memory_order_acq_rel) + joined == 1) end();
    }

    // A thread that is not the owner must not look at `merged`. Numbers of threads are never given
    // again, so that a new thread is not taken for one that is gone.
    bool mine() const noexcept { return owner == thread_state.number && !merged; }

    // Not a part of every `release`.
    [[gnu::cold, gnu::noinline]] void end() noexcept { delete this; }

    std::shared_ptr<void const> const value;
    std::uint64_t const owner;
    // Wide: a thread that only makes what others drop counts up for as long as the version lasts.
    std::int64_t local = 0;              ///< Of the owner; below zero if it drops what others make.
    bool merged = false;                 ///< Of the owner.
    std::atomic<std::int64_t> word = 0;  ///< Twice what others counted; odd when retired.
};

/// Puts `value` into this thread's table, in place of what is there, and gives a holder with one
/// reference counted. On a thread whose table is gone: one that no table has.
/// Errors: `std::bad_alloc`; nothing is lost then.
Holder* remember(std::uint32_t slot, std::uint64_t version, std::shared_ptr<void const> value);

/// Retires what this thread remembers there.
void forget(std::uint32_t slot) noexcept;

}  // namespace rollcall::live
