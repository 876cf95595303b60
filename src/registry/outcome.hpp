#pragma once

#include <system_error>
#include <utility>

#include "core/result.hpp"

namespace rollcall {

/// What the two forms of a public operation make of its result: the plain one throws `Error`, the
/// one with a code reports through it and gives an empty value.
template <class T>
T outcome(Result<T>&& result) {
    return std::move(result).value();
}

template <class T>
T outcome(Result<T>&& result, std::error_code& error) {
    if (result.has_error()) {
        error = result.error().code();
        return T{};
    }
    error.clear();
    return *std::move(result);
}

}  // namespace rollcall
