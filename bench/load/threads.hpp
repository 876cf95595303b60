#pragma once

#include <cstddef>
#include <functional>

namespace rollcall::bench {

/// Runs `work` on so many threads at a time and waits for them. Throws what one of them threw.
void on_threads(std::size_t count, std::function<void()> const& work);

}  // namespace rollcall::bench
