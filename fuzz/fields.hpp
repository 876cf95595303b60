#pragma once

#include <string_view>
#include <utility>
#include <vector>

namespace rollcall::fuzz {

/// The fields of a Hash: names and values, each ended by a NUL.
inline std::vector<std::pair<std::string_view, std::string_view>> fields_of(
    std::string_view bytes) {
    std::vector<std::pair<std::string_view, std::string_view>> fields;
    auto const next = [&bytes] {
        auto const text = bytes.substr(0, bytes.find('\0'));
        bytes.remove_prefix(text.size() == bytes.size() ? text.size() : text.size() + 1);
        return text;
    };
    while (!bytes.empty()) {
        auto const name = next();
        fields.emplace_back(name, next());
    }
    return fields;
}

}  // namespace rollcall::fuzz
