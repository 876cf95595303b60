#include <array>
#include <string>
#include <string_view>

#include "load/plain_client.hpp"
#include "load/reads.hpp"

#include "rollcall/streaming/service_consumer.hpp"

namespace rollcall::bench {
namespace {

/// One round trip for the ids, then one for each. Returns how many Hashes it found.
std::size_t read_one_by_one(PlainClient& plain, std::string const& heartbeats,
                            std::string const& base) {
    std::array<std::string_view, 5> const range{"ZRANGEBYSCORE", heartbeats, "-inf", "+inf",
                                                "WITHSCORES"};
    plain.send(range);
    auto const ids = plain.receive();
    std::size_t found = 0;
    for (std::size_t i = 0; i < ids->elements; i += 2) {
        auto const key = base + ids->element[i]->str;
        std::array<std::string_view, 2> const command{"HGETALL", key};
        plain.send(command);
        if (plain.receive()->elements > 0) ++found;
    }
    return found;
}

}  // namespace

std::vector<Figure> measure_streaming_discover(Stage& stage, Effort const& effort) {
    streaming::RedisServiceConsumer consumer{stage.client()};
    consumer.start();
    PlainClient plain{stage.server().socket()};
    auto const& service = stage.ids().front().service;
    auto base = stage.key(0);
    base.resize(base.size() - random_digits.size());

    Reading reading;
    reading.name = "streaming.discover_1000";
    reading.ours = [&] {
        auto const found = consumer.all_instances(service);
        must_be_all(found.size());
        must_be_one(found.front(), stage);
    };
    reading.commands = {"HGETALL"};
    reading.others = [&] { must_be_all(read_one_by_one(plain, stage.index_key(), base)); };
    reading.others_text = "1+N round trips of a blocking client";
    reading.at_least = 10;
    return measure_reading(stage, effort, reading);
}

}  // namespace rollcall::bench
