#pragma once

#include <exception>

namespace rollcall {

/// What `call` throws; null: nothing. What is no exception of C++ goes on, such as the end of a
/// thread by `pthread_cancel`: whoever swallows that is terminated.
template <class Call>
std::exception_ptr caught(Call const& call) {
    try {
        call();
    } catch (...) {
        auto thrown = std::current_exception();
        if (!thrown) throw;
        return thrown;
    }
    return nullptr;
}

/// For what must not spoil what it accompanies.
template <class Call>
void quietly(Call const& call) {
    static_cast<void>(caught(call));
}

}  // namespace rollcall
