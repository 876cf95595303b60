// The reporter on random documents, against what their text is composed of.

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <gtest/gtest.h>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "integration/streaming/fixture.hpp"

namespace rollcall::streaming::test {
namespace {

/// One member as it is written, with all white space around it.
struct Member {
    std::string name;  ///< As it is written, with quotes.
    std::string colon;
    std::string value;
    std::string comma;  ///< What follows, up to the next name.
};

class Documents {
public:
    explicit Documents(unsigned seed) : random_(seed) {}

    std::vector<Member> members() {
        std::vector<Member> result;
        for (auto left = up_to(6); left > 0; --left) {
            result.push_back({name(result), space() + ":" + space(), value(3), space()});
        }
        for (std::size_t i = 0; i + 1 < result.size(); ++i) result[i].comma += "," + space();
        return result;
    }

    std::string space() {
        static constexpr std::string_view texts[] = {"", "", "", " ", "\n", "\t ", "\r\n"};
        return std::string{texts[up_to(6)]};
    }

    std::size_t up_to(std::size_t most) {
        return std::uniform_int_distribution<std::size_t>{0, most}(random_);
    }

private:
    /// Ours are rarely written with escapes; each name is there once.
    std::string name(std::vector<Member> const& taken) {
        static constexpr std::string_view names[] = {R"("clientInflight")",
                                                     R"("clientLatencyMs")",
                                                     R"("clientErrorRate")",
                                                     R"("clientIn")",
                                                     R"("cpu")",
                                                     R"("\"}{,:")",
                                                     R"("\\")",
                                                     R"("")",
                                                     R"("übung")",
                                                     R"("client\u0045rrorRate\u0000")"};
        for (;;) {
            std::string const name{names[up_to(std::size(names) - 1)]};
            auto const is_same = [&](Member const& member) { return member.name == name; };
            if (std::ranges::none_of(taken, is_same)) return name;
        }
    }

    std::string value(std::size_t depth) {
        static constexpr std::string_view scalars[] = {
            "0",  "7",           "-3",      "1.0",        "1E5",  "12345678901234567890",
            "50", "0.1",         "\"4\"",   "\"\"",       "true", "null",
            "33", R"("a\"]}b")", R"("\\")", R"("é,:{[")", "2e-7", "100.0"};
        auto const kind = up_to(depth > 0 ? 5 : 3);
        if (kind < 4) return std::string{scalars[up_to(std::size(scalars) - 1)]};
        bool const is_object = kind == 4;
        std::string text{is_object ? "{" : "["};
        for (auto left = up_to(3); left > 0; --left) {
            text +=
                space() + (is_object ? R"("clientInflight":)" : "") + value(depth - 1) + space();
            if (left > 1) text += ",";
        }
        return text + (is_object ? "}" : "]");
    }

    std::mt19937 random_;
};

/// What a number of ours is read as: the design's `Long.parseLong` and `Double.parseDouble` of the
/// value's text, 0 for all else.
double read(std::string text, bool whole) {
    if (text.size() > 1 && text.front() == '"') text = text.substr(1, text.size() - 2);
    auto const* allowed = whole ? "+-0123456789" : "+-0123456789.eE";
    if (text.empty() || text.find_first_not_of(allowed) != std::string::npos) return 0;
    auto const number = std::strtod(text.c_str(), nullptr);
    return whole && std::abs(number) >= 1e15 ? 0 : number;
}

/// The document after the end of a call that took 12 ms.
class Expected {
public:
    Expected(std::vector<Member> members, bool success) : members_(std::move(members)) {
        auto const inflight = std::max(0.0, read(before("clientInflight"), true) - 1);
        set("clientInflight", std::to_string(static_cast<long long>(inflight)));
        set("clientLatencyMs", "12");
        auto const rate = std::clamp(read(before("clientErrorRate"), false), 0.0, 100.0);
        rate_ = 0.2 * (success ? 0 : 100) + (1 - 0.2) * rate;
        set("clientErrorRate", std::string{rate_mark});
    }

    /// Compares all but the rate byte for byte, and the rate by value.
    void compare(std::string_view lead, std::string const& text) const {
        std::string expected{lead};
        expected += "{" + inner_space_;
        for (auto const& member : members_) {
            expected += member.name + member.colon + member.value + member.comma;
        }
        expected += "}";
        auto const at = expected.find(rate_mark);
        auto const end = text.find_first_of(",} \t\r\n", at);
        ASSERT_NE(end, std::string::npos) << text;
        auto const rate = text.substr(at, end - at);
        EXPECT_EQ(std::strtod(rate.c_str(), nullptr), rate_) << rate;
        EXPECT_NE(rate.find_first_of(".e"), std::string::npos) << rate;
        EXPECT_EQ(text, expected.replace(at, rate_mark.size(), rate));
    }

    void set_inner_space(std::string space) { inner_space_ = std::move(space); }

private:
    static constexpr std::string_view rate_mark = "@rate@";

    Member* find(std::string_view name) {
        for (auto& member : members_) {
            if (member.name == '"' + std::string{name} + '"') return &member;
        }
        return nullptr;
    }
    std::string before(std::string_view name) {
        auto const* member = find(name);
        return member ? member->value : "";
    }
    void set(std::string_view name, std::string value) {
        if (auto* member = find(name)) {
            member->value = std::move(value);
            return;
        }
        if (!members_.empty()) members_.back().comma += ",";
        members_.push_back({'"' + std::string{name} + '"', ":", std::move(value), ""});
    }

    std::vector<Member> members_;
    std::string inner_space_;
    double rate_ = 0;
};

class ClientMetricsDocuments : public StreamingTest {};

TEST_F(ClientMetricsDocuments, KeepAllBytesThatAreNotOurs) {
    RedisClientMetricsReporter reporter{client};
    auto const key = instance_key("orders", "o-1");
    for (unsigned seed = 0; seed < 1'000; ++seed) {
        SCOPED_TRACE(seed);
        Documents documents{seed};
        auto const members = documents.members();
        auto const lead = documents.space();
        auto const inner = documents.space();
        auto text = lead + "{" + inner;
        for (auto const& member : members) {
            text += member.name + member.colon + member.value + member.comma;
        }
        text += "}";
        SCOPED_TRACE(text);
        redis().must({"HSET", key, "host", "h", "metrics", text});
        bool const success = documents.up_to(1) == 1;
        reporter.record_end("orders", "o-1", 12ms, success);
        Expected expected{members, success};
        expected.set_inner_space(inner);
        expected.compare(lead, redis().must({"HGET", key, "metrics"}).text);
        if (HasFailure()) return;
    }
}

}  // namespace
}  // namespace rollcall::streaming::test
