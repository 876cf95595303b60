#include <algorithm>
#include <charconv>
#include <optional>

#include "support/golden_json.hpp"
#include "support/golden_state.hpp"

namespace rollcall::test::golden {

namespace {

constexpr std::string_view ms_mark = "{{ms}}";
constexpr std::size_t time_digits = 13;

/// The 13-digit time at the beginning of `text`.
std::optional<long long> leading_time(std::string_view text) {
    auto const digits = std::min(text.find_first_not_of("0123456789"), text.size());
    if (digits != time_digits) return {};
    return std::stoll(std::string{text.substr(0, digits)});
}

/// A number of seconds as the layouts write it.
std::optional<long long> plain_number(std::string_view text) {
    long long number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    if (std::to_string(number) != text) return {};
    return number;
}

constexpr std::string_view second_mark = "{{sec";
constexpr std::string_view lease_begin = "{{until ";
constexpr std::string_view mark_end = "}}";

/// What is between the beginning and end of a mark.
std::optional<std::string_view> inside(std::string_view mark, std::string_view begin) {
    if (!mark.starts_with(begin) || !mark.ends_with(mark_end)) return {};
    return mark.substr(begin.size(), mark.size() - begin.size() - mark_end.size());
}

class Comparison {
public:
    Comparison(Expectation const& expected, Actual const& actual, Window const& window)
        : expected_(expected), actual_(actual), window_(window) {}

    std::vector<std::string> run() {
        for (auto const& [key, live] : expected_.keys) {
            auto const found = actual_.keys.find(key);
            if (found == actual_.keys.end()) {
                report("key " + in_quotes(key) + " is missing");
            } else {
                compare_key(key, live, found->second);
            }
        }
        for (auto const& [key, live] : actual_.keys) {
            if (!expected_.keys.contains(key)) report("key " + in_quotes(key) + " is too much");
        }
        compare_messages();
        return std::move(deviations_);
    }

private:
    void report(std::string text) { deviations_.push_back(std::move(text)); }

    void report_value(std::string const& what, std::string_view expected, std::string_view actual) {
        report(what + ": expected " + in_quotes(expected) + ", is " + in_quotes(actual));
    }

    bool in_window(long long time) const { return time >= window_.from && time <= window_.until; }

    bool is_time_of_step(std::string_view text) const {
        auto const time = leading_time(text);
        return time && text.size() == time_digits && in_window(*time);
    }

    void compare_key(std::string const& key, LiveKey const& expected, LiveKey const& actual) {
        auto const where = "key " + in_quotes(key);
        if (expected.type != actual.type) {
            report_value(where + ", type", name(expected.type), name(actual.type));
            return;
        }
        compare_expiry(where, expected.expiry, actual.expiry);
        for (auto const& member : expected.members) {
            if (!actual.members.contains(member)) {
                report(where + ": member " + in_quotes(member) + " is missing");
            }
        }
        for (auto const& member : actual.members) {
            if (!expected.members.contains(member)) {
                report(where + ": member " + in_quotes(member) + " is too much");
            }
        }
        compare_fields(where, expected, actual);
        compare_scores(where, expected, actual);
    }

    void compare_fields(std::string const& where, Content const& expected, Content const& actual) {
        for (auto const& [field, value] : expected.fields) {
            auto const found = actual.fields.find(field);
            if (found == actual.fields.end()) {
                report(where + ": field " + in_quotes(field) + " is missing");
            } else if (!same_value(field, value, found->second)) {
                report_value(where + ", field " + in_quotes(field), value, found->second);
            }
        }
        for (auto const& [field, value] : actual.fields) {
            if (!expected.fields.contains(field)) {
                report(where + ": field " + in_quotes(field) + " is too much, with " +
                       in_quotes(value));
            }
        }
    }

    bool same_value(std::string const& field, std::string const& expected,
                    std::string const& actual) const {
        if (expected == now_mark) return is_time_of_step(actual);
        if (auto const offset = offset_of_second(expected)) {
            auto const second = plain_number(actual);
            return second && *second - *offset >= window_.from / 1'000 &&
                   *second - *offset <= window_.until / 1'000;
        }
        if (auto const end = leased_until(expected)) return is_end_of_lease(actual, *end);
        if (field == "metadata") return same_but_for_order(expected, actual);
        if (field == "metrics") return same_by_value(expected, actual);
        return expected == actual;
    }

    void compare_scores(std::string const& where, Content const& expected, Content const& actual) {
        auto const find = [](Content const& set, std::string const& member) {
            return std::find_if(set.scored.begin(), set.scored.end(),
                                [&](auto const& entry) { return entry.first == member; });
        };
        for (auto const& [member, score] : expected.scored) {
            auto const found = find(actual, member);
            if (found == actual.scored.end()) {
                report(where + ": member " + in_quotes(member) + " is missing");
            } else if (score == now_mark ? !is_time_of_step(found->second)
                                         : score != found->second) {
                report_value(where + ", score of " + in_quotes(member), score, found->second);
            }
        }
        for (auto const& [member, score] : actual.scored) {
            if (find(expected, member) == expected.scored.end()) {
                report(where + ": member " + in_quotes(member) + " is too much");
            }
        }
        for (std::size_t i = 1; i < expected.scored.size(); ++i) {
            auto const first = find(actual, expected.scored[i - 1].first);
            auto const second = find(actual, expected.scored[i].first);
            if (first == actual.scored.end() || second == actual.scored.end()) continue;
            if (second < first && second->second != first->second) {
                report(where + ": " + in_quotes(second->first) + " comes before " +
                       in_quotes(first->first));
            }
        }
    }

    void compare_expiry(std::string const& where, Expiry const& expected, Expiry const& actual) {
        auto const text = [](Expiry const& expiry) {
            return expiry.kind == Expiry::Kind::none ? std::string{"none"}
                   : expiry.kind == Expiry::Kind::at
                       ? "until " + std::to_string(expiry.value)
                       : std::to_string(expiry.value) + " s from the step on";
        };
        bool same = expected == actual;
        if (expected.kind == Expiry::Kind::set_in_step && actual.kind == Expiry::Kind::at) {
            same = in_window(actual.value - expected.value * 1'000);
        }
        if (!same) {
            report(where + ", TTL: expected " + text(expected) + ", is " + text(actual) +
                   " (the step: " + std::to_string(window_.from) + " to " +
                   std::to_string(window_.until) + ')');
        }
    }

    void compare_messages() {
        auto const& expected = expected_.messages;
        auto const& actual = actual_.messages;
        for (std::size_t i = 0; i < std::max(expected.size(), actual.size()); ++i) {
            auto const where = "message " + std::to_string(i + 1);
            if (i >= actual.size()) {
                report(where + " is missing: " + in_quotes(expected[i].payload));
            } else if (i >= expected.size()) {
                report(where + " is too much: " + in_quotes(actual[i].payload));
            } else if (expected[i].channel != actual[i].channel) {
                report_value(where + ", channel", expected[i].channel, actual[i].channel);
            } else if (!same_payload(expected[i].payload, actual[i].payload)) {
                report_value(where, expected[i].payload, actual[i].payload);
            }
        }
    }

    bool same_payload(std::string_view expected, std::string_view actual) const {
        for (;;) {
            auto const mark = expected.find(ms_mark);
            if (mark == std::string_view::npos) return expected == actual;
            if (expected.substr(0, mark) != actual.substr(0, mark)) return false;
            auto const time = leading_time(actual.substr(mark));
            if (!time || !in_window(*time)) return false;
            expected.remove_prefix(mark + ms_mark.size());
            actual.remove_prefix(mark + time_digits);
        }
    }

    Expectation const& expected_;
    Actual const& actual_;
    Window const& window_;
    std::vector<std::string> deviations_;
};

}  // namespace

std::optional<long long> offset_of_second(std::string_view mark) {
    auto const offset = inside(mark, second_mark);
    if (!offset || offset->empty()) return offset ? std::optional{0LL} : std::nullopt;
    return offset->front() == '+' ? plain_number(offset->substr(1)) : std::nullopt;
}

std::string lease_mark(long long epoch_ms) {
    return std::string{lease_begin} + std::to_string(epoch_ms) + std::string{mark_end};
}

std::optional<long long> leased_until(std::string_view mark) {
    auto const time = inside(mark, lease_begin);
    return time ? plain_number(*time) : std::nullopt;
}

bool is_end_of_lease(std::string_view seconds, long long epoch_ms) {
    auto const second = plain_number(seconds);
    return second && *second * 1'000 > epoch_ms - 1'500 && *second * 1'000 <= epoch_ms + 500;
}

bool same_result(std::string_view expected, std::string_view actual, LiveKeys const& state) {
    for (;;) {
        auto const mark = expected.find(second_mark);
        if (mark == std::string_view::npos) return expected == actual;
        if (expected.substr(0, mark) != actual.substr(0, mark)) return false;
        actual.remove_prefix(mark);
        auto const digits = actual.substr(0, actual.find_first_not_of("0123456789"));
        bool const ends = std::any_of(state.begin(), state.end(), [&](auto const& entry) {
            auto const& expiry = entry.second.expiry;
            return expiry.kind == Expiry::Kind::at && is_end_of_lease(digits, expiry.value);
        });
        if (!ends) return false;
        expected.remove_prefix(expected.find(mark_end, mark) + mark_end.size());
        actual.remove_prefix(digits.size());
    }
}

std::vector<std::string> compare(Expectation const& expected, Actual const& actual,
                                 Window const& window) {
    return Comparison{expected, actual, window}.run();
}

}  // namespace rollcall::test::golden
