#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace rollcall {

enum class Comparison { eq, ne, gt, ge, lt, le };

/// `==`, `!=`, `>`, `>=`, `<`, `<=`.
std::string_view symbol(Comparison comparison) noexcept;

/// One requirement on a labelled value, such as `region==eu`.
struct Condition {
    std::string field = {};
    Comparison comparison = Comparison::eq;
    std::string value = {};

    /// From text, split at its first operator; spaces around both sides do not count. `name` names
    /// the option in errors.
    /// Errors: `std::invalid_argument` for an empty field or no known operator.
    static Condition parse(std::string_view name, std::string_view text);

    friend bool operator==(Condition const&, Condition const&) = default;
};

/// Whether a stored value meets the condition, for layouts whose Redis does not evaluate it.
/// As numbers where both are, as C writes them (`10`, `1e3`, `0xa`), anything else byte by byte.
bool meets(Condition const& condition, std::string_view stored);

}  // namespace rollcall
