// The numbered vectors of the scripts, from tests/data/cosky: each is carried out by EVAL of our
// script of the same name. What ours answers differently on purpose is listed beside them, with the
// rule of the specification.

#include "support/vectors.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <gmock/gmock.h>
#include <map>
#include <set>

#include "cosky/renewal_tolerance.hpp"
#include "cosky/scripts.hpp"
#include "integration/cosky/fixture.hpp"
#include "support/redis_escapes.hpp"

namespace rollcall::cosky::test {
namespace {

namespace json = boost::json;
using Reply = RedisClient::Reply;

redis::Script const& script_called(std::string const& name) {
    static redis::Script const* const all[] = {&scripts::registry_register,
                                               &scripts::registry_deregister,
                                               &scripts::registry_renew,
                                               &scripts::registry_set_metadata,
                                               &scripts::registry_set_service,
                                               &scripts::registry_remove_service,
                                               &scripts::discovery_get_instances,
                                               &scripts::discovery_get_instance,
                                               &scripts::discovery_get_instance_ttl,
                                               &scripts::service_stat,
                                               &scripts::instance_count_stat,
                                               &scripts::service_topology_add,
                                               &scripts::service_topology_get};
    for (auto const* script : all) {
        if (script->name == name) return *script;
    }
    throw std::runtime_error{"no script " + name};
}

/// The data write a byte as `\xhh`.
std::string bytes_of(std::string_view text) {
    std::string out;
    for (std::size_t at = 0; at < text.size(); ++at) {
        out += text[at] == '\\' ? rollcall::test::unescape(text, at).value() : text[at];
    }
    return out;
}

std::string text_of(json::value const& value) {
    return value.is_string() ? bytes_of(value.as_string()) : json::serialize(value);
}

/// `T+60` as a number or text; `now` is Redis' time. Anything else as it is.
std::string at_time(std::string text, std::int64_t now) {
    if (!text.starts_with("T+")) return text;
    auto const offset = std::stoll(text.substr(2));
    return std::to_string(now + offset);
}

/// What a key holds, in the notation of the data.
struct Content {
    std::string type;
    std::set<std::string> parts;  ///< Members, or `field=value`.
    std::int64_t ttl = -1;

    friend bool operator==(Content const&, Content const&) = default;
};
using State = std::map<std::string, Content>;

std::ostream& operator<<(std::ostream& out, Content const& content) {
    out << content.type << " {";
    for (auto const& part : content.parts) out << part << ", ";
    return out << "} ttl=" << content.ttl;
}

class ScriptVectors : public CoskyTest, public testing::WithParamInterface<json::object> {
protected:
    static json::object const& differences() {
        static auto const document = rollcall::test::document("cosky/script_differences");
        return document.as_object().at("vectors").as_object();
    }
    /// What the vector says, or the difference in its place.
    json::value const& said(std::string_view what) const {
        auto const* differs = differences().if_contains(GetParam().at("id").as_string());
        if (differs && differs->as_object().contains(what)) return differs->as_object().at(what);
        return GetParam().at(what);
    }

    Reply call(std::string const& name, std::vector<std::string> arguments) {
        if (name == "registry_renew") arguments.push_back(tolerance(arguments.at(1)));
        std::vector<std::string> command{"EVAL", std::string{script_called(name).text}, "1", ns};
        command.insert(command.end(), arguments.begin(), arguments.end());
        return redis().command(command);
    }
    /// Redis' time, at least half a second before it changes.
    std::int64_t start_of_a_second() {
        std::int64_t now = 0;
        eventually([&] {
            auto const time = redis().must({"TIME"}).texts();
            now = std::stoll(time.at(0));
            return std::stoll(time.at(1)) < 500'000;
        });
        return now;
    }
    static std::string tolerance(std::string const& ttl) {
        bool const number =
            !ttl.empty() && ttl.find_first_not_of("0123456789") == std::string::npos;
        auto const lease = std::chrono::seconds{number ? std::stoll(ttl) : 60};
        return std::to_string(renewal_tolerance(lease, RenewProperties{}.period).count());
    }

    void given(json::array const& step) {
        std::vector<std::string> words;
        for (auto const& word : step) words.push_back(text_of(word));
        auto const key = words.size() > 1 ? ns + ":" + words[1] : "";
        if (words[0] == "call") {
            call(words[1], {words.begin() + 2, words.end()});
        } else if (words[0] == "last") {
            redis().must({"HSET", DiscoveryKeyGenerator::instance_key(ns, "s@http#h#80"),
                          "__last_renew_pub_ttl_at",
                          std::to_string(redis_seconds() + std::stoll(words[1]))});
        } else if (words[0] == "hset+T") {
            redis().must(
                {"HSET", key, words[2], std::to_string(redis_seconds() + std::stoll(words[3]))});
        } else {
            std::vector<std::string> command{words[0], key};
            command.insert(command.end(), words.begin() + 2, words.end());
            redis().must(command);
        }
    }

    State stored() {
        State state;
        for (auto const& key : keys()) {
            auto& content = state[key.substr(ns.size() + 1)];
            content.type = redis().must({"TYPE", key}).text;
            content.ttl = redis().must({"TTL", key}).integer;
            if (content.type == "set") {
                for (auto& member : redis().must({"SMEMBERS", key}).texts()) {
                    content.parts.insert(member);
                }
            } else if (content.type == "hash") {
                for (auto const& [name, value] : redis().must({"HGETALL", key}).pairs()) {
                    content.parts.insert(name + "=" + value);
                }
            }
        }
        return state;
    }

    static State expected_state(json::array const& lines, std::int64_t now) {
        State state;
        for (auto const& line : lines) {
            auto const text = bytes_of(line.as_string());
            auto const space = text.find(' ');
            auto& content = state[text.substr(0, space)];
            auto rest = text.substr(space + 1);
            if (auto const at = rest.rfind(" ttl="); at != std::string::npos) {
                content.ttl = std::stoll(rest.substr(at + 5));
                rest.erase(at);
            }
            if (rest == "string") {
                content.type = rest;
                continue;
            }
            read_parts(rest.substr(1, rest.size() - 2), now, content);
        }
        return state;
    }
    static void read_parts(std::string const& list, std::int64_t now, Content& content) {
        content.type = "set";
        for (std::size_t at = 0; at <= list.size();) {
            auto const end = std::min(list.find(", ", at), list.size());
            auto part = list.substr(at, end - at);
            if (auto const equals = part.find('='); equals != std::string::npos) {
                content.type = "hash";
                part = part.substr(0, equals + 1) + at_time(part.substr(equals + 1), now);
            }
            content.parts.insert(part);
            at = end + 2;
        }
    }

    void check_reply(Reply const& reply, json::value const& expected, std::int64_t now) {
        if (expected.is_string() && expected.as_string().starts_with("ERR")) {
            EXPECT_TRUE(reply.is_error());
        } else if (expected == json::value{"nil"}) {
            EXPECT_EQ(reply.kind, Reply::Kind::null);
        } else if (expected.is_array()) {
            EXPECT_EQ(sorted(shown(reply)), sorted(shown(expected, now)));
        } else {
            EXPECT_EQ(std::to_string(reply.integer), at_time(text_of(expected), now));
        }
    }
    /// Nested lists as text, one element a line; of a list of fields and values, one pair.
    static std::vector<std::string> shown(Reply const& reply) {
        std::vector<std::string> lines;
        for (auto const& element : reply.elements) {
            if (element.kind != Reply::Kind::array) {
                lines.push_back(element.text);
                continue;
            }
            auto parts = shown(element);
            lines.push_back("[" + testing::PrintToString(paired(parts)) + "]");
        }
        return lines;
    }
    static std::vector<std::string> shown(json::value const& expected, std::int64_t now) {
        std::vector<std::string> lines;
        for (auto const& element : expected.as_array()) {
            if (!element.is_array()) {
                lines.push_back(at_time(text_of(element), now));
                continue;
            }
            auto parts = shown(element, now);
            lines.push_back("[" + testing::PrintToString(paired(parts)) + "]");
        }
        return lines;
    }
    static std::multiset<std::string> paired(std::vector<std::string> const& parts) {
        std::multiset<std::string> pairs;
        for (std::size_t i = 0; i + 1 < parts.size(); i += 2) {
            pairs.insert(parts[i] + "=" + parts[i + 1]);
        }
        if (parts.size() % 2 == 1) pairs.insert(parts.back());
        return pairs;
    }
    static std::multiset<std::string> sorted(std::vector<std::string> const& lines) {
        return {lines.begin(), lines.end()};
    }
};

TEST_P(ScriptVectors, AnswerAndLeaveWhatTheySay) {
    auto const& vector = GetParam();
    std::vector<std::string> arguments;
    for (auto const& one : vector.at("argv").as_array()) arguments.push_back(text_of(one));
    std::vector<std::string> messages;
    for (auto const& one : said("msgs").as_array()) {
        messages.push_back(std::string{one.as_string()}.substr(2));
    }
    // Times are whole seconds and leases short: all of it has to happen in a part of one second.
    std::int64_t now = 0;
    Reply reply;
    ASSERT_TRUE(eventually([&] {
        redis().must({"FLUSHALL"});
        now = start_of_a_second();
        auto const begin = std::chrono::steady_clock::now();
        for (auto const& step : vector.at("given").as_array()) given(step.as_array());
        heard();
        reply = call(std::string{vector.at("script").as_string()}, arguments);
        return std::chrono::steady_clock::now() - begin < 250ms && redis_seconds() == now;
    }));
    check_reply(reply, said("reply"), now);
    EXPECT_EQ(heard(), messages);
    EXPECT_EQ(stored(), expected_state(said("state").as_array(), now));
}

std::vector<json::object> all_vectors() {
    std::vector<json::object> result;
    auto const document = rollcall::test::document("cosky/script_vectors");
    for (auto const& one : document.as_array()) result.push_back(one.as_object());
    return result;
}

INSTANTIATE_TEST_SUITE_P(Cosky, ScriptVectors, testing::ValuesIn(all_vectors()),
                         [](auto const& vector) {
                             return std::string{vector.param.at("id").as_string()};
                         });

TEST(ScriptVectors, AreAllOfThem) {
    EXPECT_EQ(all_vectors().size(), 104u);
    auto const differences = rollcall::test::document("cosky/script_differences");
    for (auto const& [id, difference] : differences.at("vectors").as_object()) {
        auto const all = all_vectors();
        EXPECT_TRUE(std::ranges::any_of(all, [&](auto const& one) {
            return one.at("id").as_string() == std::string{id};
        })) << id;
    }
}

}  // namespace
}  // namespace rollcall::cosky::test
