#include "rollcall/cosky/namespaced.hpp"

#include <cstddef>
#include <mutex>

#include "core/checks.hpp"

namespace rollcall::cosky {
namespace {

constexpr std::size_t max_namespace_size = 255;

}  // namespace

struct NamespacedContext::State {
    std::mutex mutex;
    std::string ns;  // Guarded by the mutex.
};

NamespacedContext::NamespacedContext(std::string_view ns) : state_(std::make_shared<State>()) {
    set_current(ns);
}

std::string NamespacedContext::current() const {
    std::lock_guard const lock{state_->mutex};
    return state_->ns;
}

void NamespacedContext::set_current(std::string_view ns) {
    validate_namespace(ns);
    std::lock_guard const lock{state_->mutex};
    state_->ns = ns;
}

void validate_namespace(std::string_view ns) {
    constexpr std::string_view field = "namespace";
    check_not_blank(field, ns);
    check_size(field, ns, max_namespace_size);
    check_utf8(field, ns);
    check_one_word(field, ns);
    // Readers of keys and channels cut the namespace off at the first colon.
    check_without(field, ns, ":");
}

}  // namespace rollcall::cosky
