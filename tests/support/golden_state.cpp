#include "support/golden_state.hpp"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <set>
#include <stdexcept>
#include <utility>

namespace rollcall::test::golden {

namespace {

constexpr std::string_view prefixes[] = {recorded_prefix, recorded_namespace};

constexpr std::string_view ms_mark = "{{ms}}";
constexpr std::string_view metrics_mark = "{{metrics}}";

/// What stands for readings of collectors that the recordings do not keep.
constexpr std::string_view some_metrics = R"({"jvm":{"threads":7},"jvm.threads":7})";

/// How much older than its heartbeat each time of an instance is placed.
long long lag_of(std::string_view field) {
    if (field == "lastHeartbeatTime") return 0;
    if (field == "lastMetricsUpdate") return 1'000'000;
    if (field == "lastMetadataUpdate") return 2'000'000;
    if (field == "registrationTime") return 3'000'000;
    throw std::invalid_argument{"a time in the unexpected field " + std::string{field}};
}

/// How long before `now` the seconds of a loaded state were written.
constexpr long long lag_of_seconds = 7;

/// A TTL that is recorded as 0: TTL rounds what is left of a lease.
constexpr long long last_half_second = 450;

Expiry placed_expiry(std::string const& ttl, long long now) {
    if (ttl == "-") return {};
    if (ttl == "0") return Expiry::at(now + last_half_second);
    if (ttl == "60") return Expiry::at(now + 45'000);
    if (ttl == "90") return Expiry::at(now + 75'000);
    if (ttl == "600") return Expiry::at(now + 500'000);
    if (ttl == "3600") return Expiry::at(now + 3'000'000);
    return Expiry::at(now + std::stoll(ttl) * 1'000);
}

using Times = std::map<std::string, long long>;  // By member.

Times placed_scores(Content const& set, Ages const& ages, long long now) {
    Times times;
    long long previous = 0;
    for (std::size_t i = 0; i < set.scored.size(); ++i) {
        auto const& member = set.scored[i].first;
        auto const chosen = ages.of.find(member);
        auto const from_end = static_cast<long long>(set.scored.size() - 1 - i);
        auto const age =
            chosen != ages.of.end() ? chosen->second : ages.newest + from_end * ages.step;
        times[member] = now - age;
        if (now - age <= previous) {
            throw std::invalid_argument{"the age of " + member + " contradicts the order"};
        }
        previous = now - age;
    }
    return times;
}

std::string in_upper_case(std::string word) {
    std::transform(word.begin(), word.end(), word.begin(),
                   [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    return word;
}

/// What the recorded scripts of a step wrote.
struct Writes {
    std::set<std::pair<std::string, std::string>> fields;      ///< Key and field.
    std::vector<std::pair<std::string, std::string>> members;  ///< Sorted set and member, in order.
    std::map<std::string, long long> ttls;                     ///< Key and seconds.
};

Writes writes_of(Step const& step) {
    Writes writes;
    for (auto const& command : step.commands) {
        for (auto const& words : command.lua) {
            auto const name = in_upper_case(words[0]);
            if (name == "HSET" || name == "HMSET") {
                for (std::size_t i = 2; i < words.size(); i += 2) {
                    writes.fields.emplace(words[1], words[i]);
                }
            } else if (name == "ZADD") {
                std::erase(writes.members, std::pair{words[1], words[3]});
                writes.members.emplace_back(words[1], words[3]);
            } else if (name == "EXPIRE") {
                writes.ttls[words[1]] = std::stoll(words[2]);
            }
        }
    }
    return writes;
}

/// The keys that the step wrote, as they are after it: also those that were written what they had.
RecordedKeys touched(Step const& step, Writes const& writes, RecordedKeys const& before) {
    auto keys = step.changed;
    auto const add = [&](std::string const& key) {
        auto const old = before.find(key);
        if (old != before.end() && !step.gone.contains(key)) keys.emplace(key, old->second);
    };
    for (auto const& [key, field] : writes.fields) add(key);
    for (auto const& [key, member] : writes.members) add(key);
    for (auto const& [key, ttl] : writes.ttls) add(key);
    return keys;
}

std::string with_marks_of_step(std::string const& recorded) {
    if (recorded == ms_mark) return std::string{now_mark};
    if (recorded == metrics_mark) return std::string{some_metrics};
    return recorded;
}

void advance_set(LiveKey& live, Content const& before, Content const& after) {
    for (auto const& member : before.members) {
        if (!after.members.contains(member)) live.members.erase(member);
    }
    for (auto const& member : after.members) {
        if (!before.members.contains(member)) live.members.insert(member);
    }
}

void advance_hash(std::string const& key, LiveKey& live, Content const& before,
                  Content const& after, Writes const& writes) {
    for (auto const& [field, value] : before.fields) {
        if (!after.fields.contains(field)) live.fields.erase(field);
    }
    for (auto const& [field, value] : after.fields) {
        auto const old = before.fields.find(field);
        if (old == before.fields.end() || old->second != value ||
            writes.fields.contains({key, field})) {
            live.fields[field] = with_marks_of_step(value);
        }
    }
}

void advance_sorted_set(std::string const& key, LiveKey& live, Content const& before,
                        Content const& after, Writes const& writes) {
    auto const has = [](Content const& set, std::string const& member) {
        return std::any_of(set.scored.begin(), set.scored.end(),
                           [&](auto const& entry) { return entry.first == member; });
    };
    auto const remove = [&](std::string const& member) {
        std::erase_if(live.scored, [&](auto const& entry) { return entry.first == member; });
    };
    for (auto const& [member, score] : before.scored) {
        if (!has(after, member)) remove(member);
    }
    auto moved = writes.members;
    for (auto const& [member, score] : after.scored) {
        bool const is_new = !has(before, member);
        if (is_new &&
            std::find(moved.begin(), moved.end(), std::pair{key, member}) == moved.end()) {
            moved.emplace_back(key, member);
        }
    }
    for (auto const& [set, member] : moved) {
        if (set != key || !has(after, member)) continue;
        remove(member);
        live.scored.emplace_back(member, now_mark);
    }
}

/// A short TTL that is merely shorter than before has not been changed by anybody.
bool only_time_passed(std::string const& before, std::string const& after) {
    if (before == "-" || after == "-") return false;
    auto const a = std::stoll(before);
    auto const b = std::stoll(after);
    return a <= 10 && b <= a;
}

LiveKey read_key(RedisClient& redis, std::string const& key) {
    LiveKey live;
    auto const type = redis.must({"TYPE", key}).text;
    if (type == "set") {
        live.type = Type::set;
        for (auto const& member : redis.must({"SMEMBERS", key}).elements) {
            live.members.insert(member.text);
        }
    } else if (type == "hash") {
        live.fields = redis.must({"HGETALL", key}).pairs();
    } else if (type == "zset") {
        live.type = Type::zset;
        auto const reply = redis.must({"ZRANGE", key, "0", "-1", "WITHSCORES"});
        for (std::size_t i = 0; i + 1 < reply.elements.size(); i += 2) {
            live.scored.emplace_back(reply.elements[i].text, reply.elements[i + 1].text);
        }
    } else {
        live.type = Type::other;
    }
    auto const expiry = redis.must({"PEXPIRETIME", key}).integer;
    if (expiry >= 0) live.expiry = Expiry::at(expiry);
    return live;
}

}  // namespace

std::string instance_of(std::string_view key) {
    auto const mark = std::string_view{":instance:"};
    auto const at = key.find(mark);
    return at == std::string_view::npos ? std::string{} : std::string{key.substr(at + mark.size())};
}

std::string heartbeats_beside(std::string_view instance_key) {
    return std::string{instance_key.substr(0, instance_key.find(":instance:"))} + ":heartbeats";
}

LiveKeys place(RecordedKeys const& keys, Ages const& ages, long long now) {
    std::map<std::string, Times> scores;
    for (auto const& [key, value] : keys) {
        if (value.type == Type::zset) scores[key] = placed_scores(value, ages, now);
    }
    LiveKeys placed;
    for (auto const& [key, value] : keys) {
        LiveKey live{value, placed_expiry(value.ttl, now)};
        for (auto& [member, score] : live.scored) score = std::to_string(scores[key][member]);
        auto const& times = scores[heartbeats_beside(key)];
        auto const time = times.find(instance_of(key));
        for (auto& [field, text] : live.fields) {
            if (text == metrics_mark) text = some_metrics;
            if (auto const offset = offset_of_second(text)) {
                text = std::to_string(now / 1'000 - lag_of_seconds + *offset);
            }
            if (text != ms_mark) continue;
            auto const heartbeat = time != times.end() ? time->second : now - ages.newest;
            text = std::to_string(heartbeat - lag_of(field));
        }
        placed.emplace(key, std::move(live));
    }
    return placed;
}

LiveKeys advance(LiveKeys keys, Recording const& recording, std::size_t index) {
    auto const& step = recording.steps.at(index);
    auto const writes = writes_of(step);
    auto const before = recording.before(index);
    for (auto const& [key, after] : touched(step, writes, before)) {
        auto const old = before.find(key);
        RecordedKey const was = old != before.end() ? old->second : RecordedKey{};
        auto& live = keys[key];
        live.type = after.type;
        if (after.type == Type::set) {
            advance_set(live, was, after);
        } else if (after.type == Type::hash) {
            advance_hash(key, live, was, after, writes);
        } else {
            advance_sorted_set(key, live, was, after, writes);
        }
        auto const ttl = writes.ttls.find(key);
        if (ttl != writes.ttls.end()) {
            live.expiry = Expiry::set_in_step(ttl->second);
        } else if (after.ttl != was.ttl && !only_time_passed(was.ttl, after.ttl)) {
            live.expiry = after.ttl == "-" ? Expiry{} : Expiry::set_in_step(std::stoll(after.ttl));
        }
    }
    for (auto const& key : step.gone) keys.erase(key);
    return keys;
}

void settle(LiveKeys& keys, long long now) {
    for (auto& [key, live] : keys) {
        if (live.expiry.kind == Expiry::Kind::set_in_step) {
            auto const seconds = live.expiry.value;
            live.expiry = Expiry::at(now + (seconds == 0 ? last_half_second : seconds * 1'000));
        }
        for (auto& [field, text] : live.fields) {
            auto const offset = offset_of_second(text);
            if (offset) text = std::to_string(now / 1'000 + *offset);
        }
    }
}

long long redis_time(RedisClient& redis) {
    auto const reply = redis.must({"TIME"});
    return std::stoll(reply.elements.at(0).text) * 1'000 +
           std::stoll(reply.elements.at(1).text) / 1'000;
}

void load(RedisClient& redis, LiveKeys const& keys) {
    redis.must({"FLUSHALL"});
    for (auto const& [key, live] : keys) {
        std::vector<std::string> command;
        if (live.type == Type::set) {
            command = {"SADD", key};
            command.insert(command.end(), live.members.begin(), live.members.end());
        } else if (live.type == Type::hash) {
            command = {"HSET", key};
            for (auto const& [field, value] : live.fields) {
                command.insert(command.end(), {field, value});
            }
        } else {
            command = {"ZADD", key};
            for (auto const& [member, score] : live.scored) {
                command.insert(command.end(), {score, member});
            }
        }
        redis.must(command);
        if (live.expiry.kind == Expiry::Kind::at) {
            redis.must({"PEXPIREAT", key, std::to_string(live.expiry.value)});
        }
    }
}

bool is_ours(std::string_view key) {
    return std::any_of(std::begin(prefixes), std::end(prefixes), [&](std::string_view prefix) {
        auto const ours = std::string{prefix} + ":rollcall:";
        return key == ours + "epoch" || key == ours + "sweep" || key.starts_with(ours + "drained:");
    });
}

LiveKeys read(RedisClient& redis) {
    LiveKeys keys;
    for (auto const& key : redis.must({"KEYS", "*"}).texts()) {
        if (!is_ours(key)) keys.emplace(key, read_key(redis, key));
    }
    return keys;
}

}  // namespace rollcall::test::golden
