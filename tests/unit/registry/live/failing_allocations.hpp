#pragma once

namespace rollcall::live::test {

/// Has the allocation after the next `spared` of this thread fail, once.
void fail_allocation_after(int spared) noexcept;

/// Nothing fails any more.
void stop_failing() noexcept;

}  // namespace rollcall::live::test
