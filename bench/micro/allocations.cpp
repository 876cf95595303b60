#include "allocations.hpp"

#include <cstdlib>

namespace {

constinit thread_local std::uint64_t count = 0;

}  // namespace

// In front of the C library's own: everything in the program allocates through them. A sanitizer
// needs its own there, and nothing is counted then.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
extern "C" {

// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming): the C library's.
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t number, std::size_t size);
void* __libc_realloc(void* old, std::size_t size);
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)

[[gnu::visibility("default")]] void* malloc(std::size_t size) {
    ++count;
    return __libc_malloc(size);
}

[[gnu::visibility("default")]] void* calloc(std::size_t number, std::size_t size) {
    ++count;
    return __libc_calloc(number, size);
}

[[gnu::visibility("default")]] void* realloc(void* old, std::size_t size) {
    ++count;
    return __libc_realloc(old, size);
}

}  // extern "C"
#endif

namespace rollcall::bench {

std::uint64_t allocations() noexcept { return count; }

}  // namespace rollcall::bench
