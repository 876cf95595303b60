#pragma once

#include <stdexcept>
#include <string>

namespace rollcall::test {

/// What `call` refuses its arguments with; empty when it does not.
template <class Call>
std::string refusal(Call call) {
    try {
        call();
        return {};
    } catch (std::invalid_argument const& error) {
        return error.what();
    }
}

}  // namespace rollcall::test
