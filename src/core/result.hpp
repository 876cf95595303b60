#pragma once

#include <boost/system/result.hpp>
#include <string>
#include <system_error>
#include <utility>

#include "rollcall/error.hpp"

namespace rollcall {

/// Why an internal operation failed: what is thrown as `Error` at the public surface.
///
/// Not an aggregate on purpose: a temporary of an aggregate type inside a `co_await` expression is
/// destroyed twice by g++ 12.
class Failure {
public:
    Failure() = default;  // What `Result<void>::error()` gives for a success.
    Failure(std::error_code code, std::string detail) : code_(code), detail_(std::move(detail)) {}
    Failure(errc code, std::string detail) : Failure(make_error_code(code), std::move(detail)) {}

    std::error_code code() const noexcept { return code_; }
    /// What was attempted and what Redis said; untrusted text.
    std::string const& detail() const noexcept { return detail_; }

private:
    std::error_code code_;
    std::string detail_;
};

/// There is no answer: a write that failed so may have been applied.
inline bool is_unanswered(Failure const& failure) noexcept {
    auto const code = failure.code();
    return code == errc::timeout || code == errc::not_connected || code == errc::cancelled ||
           code == errc::closed;
}

[[noreturn]] inline void throw_exception_from_error(Failure const& failure,
                                                    boost::source_location const&) {
    throw Error{failure.code(), failure.detail()};
}

/// A value, or why there is none.
template <class T>
using Result = boost::system::result<T, Failure>;

}  // namespace rollcall
