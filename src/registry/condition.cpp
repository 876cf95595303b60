#include "registry/condition.hpp"

#include <cstddef>
#include <cstdlib>
#include <locale.h>
#include <optional>
#include <string>

#include "core/text.hpp"

namespace rollcall {

namespace {

struct Operator {
    std::string_view symbol;
    Comparison comparison;
};

// At one position the longer symbol wins: `>=` before `>`.
constexpr Operator operators[] = {
    {"==", Comparison::eq}, {"!=", Comparison::ne}, {">=", Comparison::ge},
    {"<=", Comparison::le}, {">", Comparison::gt},  {"<", Comparison::lt},
};

std::string_view trimmed(std::string_view text) {
    auto const first = text.find_first_not_of(" \t");
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

/// What the scripts of the other layout take for a number: whatever C's strtod does, hexadecimal
/// and without bounds, in whatever spaces; here for no locale but C's.
std::optional<double> number_of(std::string_view text) {
    static auto const plain = newlocale(LC_ALL_MASK, "C", nullptr);
    std::string const terminated{text};
    auto const* const begin = terminated.c_str();
    char* end = nullptr;
    auto const number = strtod_l(begin, &end, plain);
    if (end == begin) return std::nullopt;
    auto const rest = text.substr(static_cast<std::size_t>(end - begin));
    if (rest.find_first_not_of(" \t\n\v\f\r") != std::string_view::npos) return std::nullopt;
    return number;
}

template <class T>
bool compare(Comparison comparison, T const& stored, T const& wanted) {
    switch (comparison) {
        case Comparison::eq:
            return stored == wanted;
        case Comparison::ne:
            return stored != wanted;
        case Comparison::gt:
            return stored > wanted;
        case Comparison::ge:
            return stored >= wanted;
        case Comparison::lt:
            return stored < wanted;
        case Comparison::le:
            return stored <= wanted;
    }
    return false;
}

}  // namespace

std::string_view symbol(Comparison comparison) noexcept {
    for (auto const& row : operators) {
        if (row.comparison == comparison) return row.symbol;
    }
    return {};
}

bool meets(Condition const& condition, std::string_view stored) {
    auto const number = number_of(stored);
    auto const wanted = number_of(condition.value);
    if (number && wanted) return compare(condition.comparison, *number, *wanted);
    return compare(condition.comparison, stored, std::string_view{condition.value});
}

Condition Condition::parse(std::string_view name, std::string_view text) {
    for (std::size_t at = 0; at < text.size(); ++at) {
        for (auto const& row : operators) {
            if (!text.substr(at).starts_with(row.symbol)) continue;
            auto const field = trimmed(text.substr(0, at));
            auto const value = trimmed(text.substr(at + row.symbol.size()));
            if (field.empty()) refuse(name, text, "a field must stand before the operator");
            return {std::string{field}, row.comparison, std::string{value}};
        }
    }
    refuse(name, text, "must be FIELD OPERATOR VALUE with one of == != > >= < <=");
}

}  // namespace rollcall
