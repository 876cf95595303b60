#include "unit/registry/live/failing_allocations.hpp"

#include <cstddef>
#include <cstdlib>
#include <new>

namespace {

constexpr int never = -1;
constinit thread_local int spared_allocations = never;

void* allocate(std::size_t size, std::size_t alignment) {
    if (spared_allocations == 0) {
        spared_allocations = never;
        throw std::bad_alloc{};
    }
    if (spared_allocations > 0) --spared_allocations;
    auto const rounded = (size + alignment - 1) / alignment * alignment;
    if (auto* const memory = std::aligned_alloc(alignment, rounded)) return memory;
    throw std::bad_alloc{};
}

}  // namespace

// In place of those of the whole program.
void* operator new(std::size_t size) { return allocate(size, alignof(std::max_align_t)); }
void* operator new(std::size_t size, std::align_val_t alignment) {
    return allocate(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

namespace rollcall::live::test {

void fail_allocation_after(int spared) noexcept { spared_allocations = spared; }

void stop_failing() noexcept { spared_allocations = never; }

}  // namespace rollcall::live::test
