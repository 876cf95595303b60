#include <string>

#include "redis/session.hpp"

namespace rollcall::redis {
namespace {

struct Meaning {
    std::string_view word;
    errc code;
};

constexpr Meaning meanings[] = {
    {"NOAUTH", errc::access_denied},   {"WRONGPASS", errc::access_denied},
    {"NOPERM", errc::access_denied},   {"LOADING", errc::unavailable},
    {"MISCONF", errc::unavailable},    {"READONLY", errc::unavailable},
    {"MASTERDOWN", errc::unavailable}, {"CLUSTERDOWN", errc::unavailable},
    {"TRYAGAIN", errc::unavailable},   {"BUSY", errc::unavailable},
    {"NOREPLICAS", errc::unavailable}, {"UNBLOCKED", errc::unavailable},
    {"OOM", errc::overloaded},
};

errc meaning_of(std::string_view text) {
    auto const word = text.substr(0, text.find(' '));
    for (auto const& meaning : meanings) {
        if (word == meaning.word) return meaning.code;
    }
    // These have no word of their own. A right that a script lacks is told in a sentence: Redis
    // 7.0 in the first form, later ones in the second.
    auto const says = [text](std::string_view part) {
        return text.find(part) != std::string_view::npos;
    };
    if (says("The user executing the script can't") || says("ACL failure in script")) {
        return errc::access_denied;
    }
    if (says("max number of clients reached")) return errc::unavailable;
    return errc::unexpected_reply;
}

/// Without where in a script it happened, ` script: SHA, on @user_script:LINE.`, which says nothing
/// to those who read it.
std::string_view without_place(std::string_view text) {
    auto const place = text.rfind(" script: ");
    bool const told = place != std::string_view::npos &&
                      text.find(", on @user_script:", place) != std::string_view::npos;
    return told ? text.substr(0, place) : text;
}

/// What Redis said, so that those who read it know what to do.
std::string explained(std::string_view text) {
    if (text.starts_with("NOAUTH ")) return "NOAUTH: give a password in the URL";
    if (text == "ERR DB index is out of range") {
        return "the URL names a database that Redis does not have: " + std::string{text};
    }
    return std::string{without_place(text)};
}

}  // namespace

Failure failure_of(Value error, std::string_view what) {
    auto const text = error.text();
    return {meaning_of(text), std::string{what} + ": " + explained(text)};
}

}  // namespace rollcall::redis
