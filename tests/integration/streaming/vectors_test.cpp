// The numbered vectors of the specification that need a Redis, from tests/data/streaming: each runs
// twice, once as plain EVAL of the script texts and once through the executor.

#include <boost/json/serialize.hpp>
#include <boost/json/value_to.hpp>
#include <cmath>
#include <gtest/gtest.h>
#include <optional>
#include <set>

#include "integration/streaming/fixture.hpp"
#include "streaming/event_text.hpp"
#include "streaming/expiry_sweep.hpp"
#include "streaming/instance_reader.hpp"
#include "streaming/instance_snapshot.hpp"
#include "streaming/registry_lua_script_executor.hpp"
#include "streaming/scripts.hpp"

namespace rollcall::streaming::test {
namespace {

namespace json = boost::json;

std::string text(json::object const& step, std::string_view name) {
    return std::string{step.at(name).as_string()};
}

ServiceInstance instance_of(json::object const& step) {
    auto const& given = step.at("instance").as_object();
    auto result = an_instance(text(step, "service"), text(step, "id"));
    result.host = given.at("host").is_null() ? "" : text(given, "host");
    result.port = json::value_to<int>(given.at("port"));
    result.scheme = text(given, "scheme");
    result.enabled = given.at("enabled").as_bool();
    result.healthy = given.at("healthy").as_bool();
    result.weight = json::value_to<int>(given.at("weight"));
    result.ephemeral = given.at("ephemeral").as_bool();
    for (auto const& [key, value] : given.at("metadata").as_object()) {
        result.metadata.emplace(key, value.as_string());
    }
    result.port = effective_port(result.scheme, result.port);
    return result;
}

/// What a step gave, in the notation of the data files; none: an error.
using Returned = std::optional<json::value>;

/// How a step is carried out. `nothing` is a step that this way cannot express.
class Way {
public:
    virtual ~Way() = default;
    virtual bool can(json::object const&) const { return true; }
    virtual Returned store(json::object const& step, std::string document, std::string tail) = 0;
    virtual Returned heartbeat(json::object const& step, std::string tail) = 0;
    virtual Returned deregister(json::object const& step, std::string tail) = 0;
    virtual Returned cleanup(json::object const& step) = 0;
    virtual Returned active(json::object const& step) = 0;
    virtual Returned query(std::string document) = 0;
    virtual bool returns_snapshots() const = 0;
};

class ByScript final : public Way {
public:
    explicit ByScript(RedisClient& redis) : redis_(redis) {}

    Returned store(json::object const& step, std::string document, std::string tail) override {
        auto const service = text(step, "service");
        auto const id = text(step, "id");
        auto const reply = eval(redis_, scripts::register_instance,
                                {index_key(), heartbeats_key(service), instance_key(service, id)},
                                {service, id, text(step, "now"), document, text(step, "ttl"),
                                 channel_of(service), tail});
        if (reply.is_error()) return std::nullopt;
        EXPECT_EQ(reply.elements.at(1).integer, 1);
        return reply.elements.at(0).integer == 1 ? "updated" : "added";
    }

    Returned heartbeat(json::object const& step, std::string tail) override {
        auto const service = text(step, "service");
        auto const id = text(step, "id");
        std::vector<std::string> arguments{text(step, "now"), text(step, "ttl"), text(step, "mode"),
                                           channel_of(service), id};
        if (text(step, "mode") == "metadata_update") {
            arguments.push_back(text(step, "metadata"));
            arguments.push_back(std::move(tail));
        }
        auto const reply = eval(redis_, scripts::heartbeat_update,
                                {heartbeats_key(service), instance_key(service, id)}, arguments);
        if (reply.is_error()) return std::nullopt;
        return reply.elements.at(0).integer;
    }

    Returned deregister(json::object const& step, std::string tail) override {
        auto const service = text(step, "service");
        auto const id = text(step, "id");
        auto const reply = eval(redis_, scripts::deregister_instance,
                                {index_key(), heartbeats_key(service), instance_key(service, id)},
                                {service, id, "", channel_of(service), tail});
        return reply.is_error() ? Returned{} : Returned{json::value{}};
    }

    Returned cleanup(json::object const& step) override {
        auto const service = text(step, "service");
        std::vector<std::string> const keys{heartbeats_key(service), index_key()};
        std::vector<std::string> arguments{service,
                                           text(step, "now"),
                                           text(step, "timeout"),
                                           std::string{prefix},
                                           channel_of(service),
                                           "0",
                                           "100"};
        auto const looked = eval(redis_, scripts::cleanup_expired, keys, arguments);
        if (looked.is_error()) return std::nullopt;
        EXPECT_TRUE(looked.elements.at(3).elements.empty()) << "nothing goes unannounced";
        json::array removed;
        for (std::size_t i = 4; i + 1 < looked.elements.size(); i += 2) {
            auto const& id = looked.elements[i].text;
            json::object fields;
            std::vector<InstanceEntryCodec::Field> stored;
            auto const pairs = looked.elements[i + 1].pairs();
            for (auto const& [name, value] : pairs) {
                fields[name] = value;
                stored.emplace_back(name, value);
            }
            auto const instance = parse_snapshot(service, id, stored);
            arguments.push_back(id);
            arguments.push_back(event_tail(service, id, instance ? &*instance : nullptr));
            removed.emplace_back(json::object{{"id", id}, {"snapshot", fields}});
        }
        auto const done = eval(redis_, scripts::cleanup_expired, keys, arguments);
        if (done.is_error()) return std::nullopt;
        EXPECT_EQ(done.elements.at(3).elements.size(), removed.size());
        return removed;
    }

    Returned active(json::object const& step) override {
        auto const reply =
            eval(redis_, scripts::active_instances, {heartbeats_key(text(step, "service"))},
                 {text(step, "now"), text(step, "timeout")});
        if (reply.is_error()) return std::nullopt;
        json::array pairs;
        for (std::size_t i = 1; i + 1 < reply.elements.size(); i += 2) {
            pairs.push_back(json::array{reply.elements[i].text, reply.elements[i + 1].text});
        }
        return pairs;
    }

    Returned query(std::string document) override {
        auto const reply = eval(redis_, scripts::query_instances, {heartbeats_key("s")},
                                {std::string{prefix}, "s", "", "90000", document});
        if (reply.is_error()) return std::nullopt;
        json::array ids;
        for (std::size_t i = 1; i < reply.elements.size(); i += 2) {
            ids.emplace_back(reply.elements[i].text);
        }
        return ids;
    }

    bool returns_snapshots() const override { return true; }

private:
    RedisClient& redis_;
};

class ByExecutor final : public Way {
public:
    explicit ByExecutor(Client const& client) : core_(client.core()) {}

    bool can(json::object const& step) const override {
        return !step.contains("now") || std::isdigit(text(step, "now").front()) != 0;
    }

    Returned store(json::object const& step, std::string document, std::string tail) override {
        RegisterCall call;
        call.service = text(step, "service");
        call.id = text(step, "id");
        call.document = std::move(document);
        call.event_tail = std::move(tail);
        call.now = milliseconds(step, "now");
        auto const scripts = executor(step);
        auto const result = core_->run([&] { return scripts.execute_register(call, soon()); });
        if (!result) return std::nullopt;
        return result->existed ? "updated" : "added";
    }

    Returned heartbeat(json::object const& step, std::string tail) override {
        std::vector<HeartbeatCall> calls(1);
        auto& call = calls.front();
        call.service = text(step, "service");
        call.describing = text(step, "mode") == "metadata_update";
        call.now = milliseconds(step, "now");
        auto& entry = call.entries.emplace_back();
        entry.id = text(step, "id");
        entry.metadata = text(step, "metadata");
        entry.event_tail = std::move(tail);
        auto const scripts = executor(step);
        auto const results =
            core_->run([&] { return as_result(scripts.execute_heartbeat_update(calls, soon())); });
        auto const& result = results.value().front();
        if (!result) return std::nullopt;
        return result->beats.at(0) == Beat::written ? 1 : 0;
    }

    Returned deregister(json::object const& step, std::string tail) override {
        DeregisterCall call;
        call.service = text(step, "service");
        call.id = text(step, "id");
        call.event_tail = std::move(tail);
        auto const scripts = executor(step);
        auto const result = core_->run([&] { return scripts.execute_deregister(call, soon()); });
        return result ? Returned{json::value{}} : Returned{};
    }

    Returned cleanup(json::object const& step) override {
        auto const scripts = executor(step);
        InstanceReader reader{scripts};
        ExpirySweep sweep{scripts, reader};
        std::vector<std::string> const services{text(step, "service")};
        auto const report = core_->run([&] {
            return as_result(sweep.run_for(services, *milliseconds(step, "timeout"), soon(),
                                           milliseconds(step, "now")));
        });
        json::array removed;
        for (auto const& service : report.value().services) {
            if (service.failure) return std::nullopt;
            for (auto const& id : service.removed) removed.emplace_back(json::object{{"id", id}});
        }
        return removed;
    }

    Returned active(json::object const& step) override {
        auto const scripts = executor(step);
        auto const service = text(step, "service");
        auto const result = core_->run([&] {
            return scripts.execute_active_instances(service, *milliseconds(step, "timeout"), soon(),
                                                    milliseconds(step, "now"));
        });
        if (!result) return std::nullopt;
        json::array pairs;
        for (auto const& member : result->list) {
            auto score = std::to_string(static_cast<long long>(member.heartbeat));
            if (member.heartbeat != std::floor(member.heartbeat)) score += ".5";
            pairs.push_back(json::array{member.id, score});
        }
        return pairs;
    }

    Returned query(std::string document) override {
        auto const scripts = executor({});
        std::string const service = "s";
        auto const result = core_->run([&] {
            return scripts.execute_get_instances_by_filters(service, 90s, document, soon());
        });
        if (!result) return std::nullopt;
        json::array ids;
        for (auto const& member : result->list) ids.emplace_back(member.id);
        return ids;
    }

    bool returns_snapshots() const override { return false; }

private:
    static Deadline soon() { return after(5s); }
    static GivenTime milliseconds(json::object const& step, std::string_view name) {
        return Milliseconds{std::stoll(text(step, name))};
    }
    RegistryLuaScriptExecutor executor(json::object const& step) const {
        auto const ttl = step.contains("ttl") ? text(step, "ttl") : "90";
        std::chrono::seconds const lease{ttl.empty() ? 0 : std::stol(ttl)};
        return {core_, RegistryKeys{prefix}, lease};
    }

    std::shared_ptr<redis::ClientCore> core_;
};

enum class How { by_script, by_executor };

class Vectors : public StreamingTest,
                public testing::WithParamInterface<std::tuple<How, json::object>> {
protected:
    std::unique_ptr<Way> way() {
        if (std::get<How>(GetParam()) == How::by_script) {
            return std::make_unique<ByScript>(redis());
        }
        return std::make_unique<ByExecutor>(client);
    }

    void check_key(std::string const& key, json::value const& expected);
    void check_hash(std::string const& key, json::object const& expected);
    void check_messages(json::object const& step);
    void run(Way& way, json::object const& step);
};

void Vectors::check_hash(std::string const& key, json::object const& expected) {
    auto const hash = redis().must({"HGETALL", key}).pairs();
    if (auto const* all = expected.if_contains("hash")) {
        std::map<std::string, std::string> fields;
        for (auto const& [name, value] : all->as_object()) fields[name] = value.as_string();
        EXPECT_EQ(hash, fields);
    }
    if (auto const* some = expected.if_contains("fields")) {
        for (auto const& [name, value] : some->as_object()) {
            EXPECT_EQ(hash.contains(name) ? hash.at(name) : "(absent)", value.as_string()) << name;
        }
    }
    if (auto const* none = expected.if_contains("without")) {
        for (auto const& name : none->as_array()) {
            EXPECT_FALSE(hash.contains(std::string{name.as_string()})) << name;
        }
    }
    if (auto const* documents = expected.if_contains("json")) {
        for (auto const& [name, members] : documents->as_object()) {
            // Members by their text: `,"name":text` with what follows it.
            auto const& document = hash.at(name);
            std::size_t length = 1 + members.as_object().size();
            for (auto const& [member, value] : members.as_object()) {
                auto const part =
                    "\"" + std::string{member} + "\":" + std::string{value.as_string()};
                auto const at = document.find(part);
                ASSERT_NE(at, std::string::npos) << part << " in " << document;
                auto const next = document.at(at + part.size());
                EXPECT_TRUE(next == ',' || next == '}') << part << " in " << document;
                length += part.size();
            }
            EXPECT_EQ(document.size(), length) << document;
        }
    }
}

void Vectors::check_key(std::string const& key, json::value const& expected) {
    SCOPED_TRACE(key);
    if (expected.is_null()) {
        EXPECT_EQ(redis().must({"EXISTS", key}).integer, 0);
        return;
    }
    auto const& what = expected.as_object();
    if (auto const* set = what.if_contains("set")) {
        std::set<std::string> members;
        for (auto const& member : set->as_array()) members.emplace(member.as_string());
        auto const found = redis().must({"SMEMBERS", key}).texts();
        EXPECT_EQ(std::set<std::string>(found.begin(), found.end()), members);
    } else if (auto const* zset = what.if_contains("zset")) {
        std::vector<std::string> members;
        for (auto const& pair : zset->as_array()) {
            members.emplace_back(pair.at(0).as_string());
            members.emplace_back(pair.at(1).as_string());
        }
        EXPECT_EQ(redis().must({"ZRANGE", key, "0", "-1", "WITHSCORES"}).texts(), members);
    } else {
        check_hash(key, what);
    }
    if (auto const* ttl = what.if_contains("ttl")) {
        EXPECT_NEAR(static_cast<double>(redis().must({"TTL", key}).integer),
                    json::value_to<double>(*ttl), ttl->as_int64() < 0 ? 0 : 1);
    }
}

void Vectors::check_messages(json::object const& step) {
    auto const messages = heard();
    auto const* expected = step.if_contains("messages");
    if (!expected) return;
    std::vector<Told> all;
    for (auto const& message : expected->as_array()) {
        auto const& one = message.as_object();
        all.push_back({text(one, "action"), text(one, "service"), text(one, "id"),
                       one.at("instance").as_bool()});
    }
    EXPECT_EQ(messages, all);
}

void Vectors::run(Way& way, json::object const& step) {
    SCOPED_TRACE(json::serialize(step).substr(0, 300));
    auto const what = text(step, "do");
    if (what == "redis") {
        std::vector<std::string> command;
        for (auto const& part : step.at("command").as_array()) {
            command.emplace_back(part.as_string());
        }
        redis().must(command);
        return;
    }
    if (!way.can(step)) return;
    std::string const service = text(step, "service");
    std::string const id = step.contains("id") ? text(step, "id") : "";
    auto base = an_instance(service, id);
    Returned returned;
    if (what == "register") {
        auto const given = instance_of(step);
        returned = way.store(step, InstanceEntryCodec::build_instance_data(given),
                             event_tail(service, id, &given));
    } else if (what == "register_document") {
        returned = way.store(step, text(step, "document"), event_tail(service, id, nullptr));
    } else if (what == "heartbeat") {
        returned = way.heartbeat(step, event_tail(service, id, &base));
    } else if (what == "deregister") {
        returned = way.deregister(step, event_tail(service, id, &base));
    } else if (what == "cleanup") {
        returned = way.cleanup(step);
    } else {
        ASSERT_EQ(what, "active");
        returned = way.active(step);
    }
    ASSERT_EQ(returned.has_value(), !step.contains("error"));
    if (auto const* expected = step.if_contains("returns"); expected && returned) {
        auto wanted = *expected;
        if (what == "cleanup" && !way.returns_snapshots()) {
            for (auto& removed : wanted.as_array()) removed.as_object().erase("snapshot");
        }
        EXPECT_EQ(*returned, wanted);
    }
    check_messages(step);
    if (auto const* keys = step.if_contains("keys")) {
        for (auto const& [key, expected] : keys->as_object()) check_key(key, expected);
    }
}

TEST_P(Vectors, Hold) {
    auto const& vector = std::get<json::object>(GetParam());
    SCOPED_TRACE(text(vector, "title"));
    auto const by = way();
    for (auto const& step : vector.at("steps").as_array()) run(*by, step.as_object());
}

class FilterVectors : public Vectors {};

TEST_P(FilterVectors, Hold) {
    auto const& vector = std::get<json::object>(GetParam());
    SCOPED_TRACE(text(vector, "title"));
    auto const now = std::to_string(redis_now());
    for (auto const& row : vector.at("instances").as_array()) {
        auto const& stored = row.as_object();
        auto const id = text(stored, "id");
        redis().must({"ZADD", heartbeats_key("s"), now, id});
        if (!stored.at("hash").as_bool()) continue;
        auto const key = instance_key("s", id);
        redis().must({"HSET", key, "host", "h", "port", "1"});
        for (auto const* name : {"metadata", "metrics"}) {
            if (stored.contains(name)) redis().must({"HSET", key, name, text(stored, name)});
        }
    }
    auto const by = way();
    for (auto const& row : vector.at("queries").as_array()) {
        auto const& query = row.as_object();
        SCOPED_TRACE(json::serialize(query));
        auto const found = by->query(text(query, "document"));
        ASSERT_EQ(found.has_value(), !query.contains("error"));
        if (found) {
            EXPECT_EQ(*found, query.at("ids"));
        }
    }
}

std::string name_of(testing::TestParamInfo<std::tuple<How, json::object>> const& info) {
    auto const [how, vector] = info.param;
    return test_name(vector) + (how == How::by_script ? "_script" : "_executor");
}

auto const both = testing::Values(How::by_script, How::by_executor);

INSTANTIATE_TEST_SUITE_P(Register, Vectors,
                         testing::Combine(both, testing::ValuesIn(cases("register"))), name_of);
INSTANTIATE_TEST_SUITE_P(Heartbeat, Vectors,
                         testing::Combine(both, testing::ValuesIn(cases("heartbeat"))), name_of);
INSTANTIATE_TEST_SUITE_P(Cleanup, Vectors,
                         testing::Combine(both, testing::ValuesIn(cases("cleanup"))), name_of);
INSTANTIATE_TEST_SUITE_P(Filters, FilterVectors,
                         testing::Combine(both, testing::ValuesIn(cases("filters"))), name_of);

}  // namespace
}  // namespace rollcall::streaming::test
