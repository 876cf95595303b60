#include "integration/streaming/fixture.hpp"

#include <algorithm>
#include <boost/json/parse.hpp>
#include <cctype>
#include <fstream>
#include <iterator>
#include <ostream>

namespace rollcall::streaming::test {

RedisClient::Reply eval(RedisClient& redis, redis::Script const& script,
                        std::vector<std::string> const& keys,
                        std::vector<std::string> const& arguments) {
    std::vector<std::string> command{"EVAL", std::string{script.text}, std::to_string(keys.size())};
    command.insert(command.end(), keys.begin(), keys.end());
    command.insert(command.end(), arguments.begin(), arguments.end());
    return redis.command(command);
}

std::ostream& operator<<(std::ostream& out, Told const& told) {
    return out << told.action << ' ' << told.service << '/' << told.id
               << (told.instance ? " with" : " without") << " instance";
}

std::vector<Told> told(std::vector<Listener::Message> const& messages) {
    std::vector<Told> result;
    for (auto const& message : messages) {
        auto const event = boost::json::parse(message.payload).as_object();
        auto& one = result.emplace_back();
        one.action = event.at("action").as_string();
        one.service = event.at("serviceName").as_string();
        one.id = event.at("instanceId").as_string();
        one.instance = event.contains("instance");
        EXPECT_EQ(message.channel, channel_of(one.service));
    }
    return result;
}

std::vector<std::string> ids_of(Instances const& instances) {
    std::vector<std::string> ids;
    for (auto const& instance : instances) ids.push_back(instance.instance_id);
    return ids;
}

std::vector<boost::json::object> cases(std::string_view file) {
    auto const path = std::string{ROLLCALL_TEST_DATA} + "/streaming/" + std::string{file} + ".json";
    std::ifstream in{path, std::ios::binary};
    std::string const bytes{std::istreambuf_iterator<char>{in}, {}};
    std::vector<boost::json::object> result;
    auto const document = boost::json::parse(bytes);
    for (auto const& one : document.at("cases").as_array()) result.push_back(one.as_object());
    return result;
}

std::string test_name(boost::json::object const& vector) {
    std::string name{vector.at("id").as_string()};
    std::replace_if(
        name.begin(), name.end(),
        [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
    return name;
}

long long StreamingTest::redis_now() {
    auto const time = redis().must({"TIME"}).texts();
    return std::stoll(time.at(0)) * 1'000 + std::stoll(time.at(1)) / 1'000;
}

void StreamingTest::store(std::string const& service, std::string const& id, long long age,
                          std::vector<std::string> const& fields) {
    auto const seen = std::to_string(redis_now() - age);
    redis().must({"MULTI"});  // One step, as a registration is: some sweep may be going on.
    redis().must({"SADD", index_key(), service});
    redis().must({"ZADD", heartbeats_key(service), seen, id});
    if (!fields.empty()) {
        std::vector<std::string> command{"HSET", instance_key(service, id)};
        command.insert(command.end(), fields.begin(), fields.end());
        redis().must(command);
    }
    redis().must({"EXEC"});
}

}  // namespace rollcall::streaming::test
