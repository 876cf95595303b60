#pragma once

#include <cstdint>
#include <functional>

namespace rollcall::live {

/// Where each thread keeps what it knows of one cell: a number below that of the cells alive at
/// once, so that the tables of threads stay short.
///
/// Numbers are given again. A thread may then still have an entry of the cell before; it cannot
/// take that for one of the new cell, because versions are never given again: what the new one
/// publishes has greater ones.
/// Thread safety: all.
class Slot {
public:
    Slot();
    ~Slot();
    Slot(Slot const&) = delete;
    Slot& operator=(Slot const&) = delete;

    std::uint32_t number() const noexcept { return number_; }

private:
    std::uint32_t const number_;
};

/// Drawn by every publication of every cell, and by every slot when it is taken.
std::uint64_t next_version() noexcept;

/// How many slots have been given back: a thread that knows as many has nothing to clean up.
std::uint64_t slots_given_back() noexcept;

/// Calls `visit` for each number below `end` with a version below which all is of cells that are
/// gone. `visit` must not come back here.
void visit_slots(std::uint32_t end, std::function<void(std::uint32_t, std::uint64_t)> const& visit);

}  // namespace rollcall::live
