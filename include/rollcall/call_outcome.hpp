#pragma once

#pragma GCC visibility push(default)

namespace rollcall {

/// How a call ended, for what balancers learn from it.
enum class CallOutcome {
    succeeded,
    failed,     ///< Refused, broken off, timed out, or answered with an error of the instance's.
    cancelled,  ///< By the caller: says nothing of the instance.
};

}  // namespace rollcall

#pragma GCC visibility pop
