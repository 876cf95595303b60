#pragma once

#include <memory>
#include <string>
#include <string_view>

#pragma GCC visibility push(default)

namespace rollcall::cosky {

/// Well-known namespaces. A namespace is the prefix of all its keys and is used as it is; on Redis
/// Cluster it must hold a non-empty hash tag `{…}`. Source: seed 003, "Redis Key Structure".
struct Namespaced {
    static constexpr std::string_view default_namespace = "cosky-{default}";
    static constexpr std::string_view system_namespace = "cosky-{system}";
};

/// The namespace that a process works in when none is given. Copies share it.
///
/// Differs from the design: it is an object that is passed, not process-wide state, and begins as
/// `Namespaced::default_namespace`, not as `cosky`, which no Cluster takes (spec 14.1, number 27).
/// Thread safety: all members from any thread.
class NamespacedContext {
public:
    /// Errors: `std::invalid_argument` as of `validate_namespace`.
    explicit NamespacedContext(std::string_view ns = Namespaced::default_namespace);

    std::string current() const;
    void set_current(std::string_view ns);

private:
    struct State;
    std::shared_ptr<State> state_;
};

/// Errors: `std::invalid_argument` for a namespace that is empty or blank, holds `:`, white space
/// or control characters, is not UTF-8, or is longer than 255 bytes.
void validate_namespace(std::string_view ns);

}  // namespace rollcall::cosky

#pragma GCC visibility pop
