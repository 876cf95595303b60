#include <array>
#include <hiredis/hiredis.h>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "load/cases.hpp"
#include "load/series.hpp"

#include "rollcall/streaming/service_consumer.hpp"

namespace rollcall::bench {
namespace {

/// What others read with: a blocking client that decodes replies and nothing more.
class PlainClient {
public:
    explicit PlainClient(std::string const& socket)
        : context_(::redisConnectUnix(socket.c_str()), ::redisFree) {
        if (!context_ || context_->err != 0) throw std::runtime_error{"cannot connect"};
    }

    /// One round trip for the ids, then one for each. Returns how many Hashes it found.
    std::size_t read_one_by_one(std::string const& heartbeats, std::string const& base) {
        std::array<std::string_view, 5> const range{"ZRANGEBYSCORE", heartbeats, "-inf", "+inf",
                                                    "WITHSCORES"};
        send(range);
        auto const ids = reply();
        std::size_t found = 0;
        for (std::size_t i = 0; i < ids->elements; i += 2) {
            auto const key = base + ids->element[i]->str;
            std::array<std::string_view, 2> const command{"HGETALL", key};
            send(command);
            if (reply()->elements > 0) ++found;
        }
        return found;
    }

    /// All in one go, the keys being known.
    std::size_t read_pipelined(std::vector<std::string> const& keys) {
        for (auto const& key : keys) {
            std::array<std::string_view, 2> const command{"HGETALL", key};
            send(command);
        }
        std::size_t found = 0;
        for (std::size_t i = 0; i < keys.size(); ++i) {
            if (reply()->elements > 0) ++found;
        }
        return found;
    }

private:
    using Reply = std::unique_ptr<redisReply, void (*)(void*)>;

    void send(std::span<std::string_view const> arguments) {
        std::array<char const*, 8> texts{};
        std::array<std::size_t, 8> sizes{};
        for (std::size_t i = 0; i < arguments.size(); ++i) {
            texts[i] = arguments[i].data();
            sizes[i] = arguments[i].size();
        }
        ::redisAppendCommandArgv(context_.get(), static_cast<int>(arguments.size()), texts.data(),
                                 sizes.data());
    }

    Reply reply() {
        void* raw = nullptr;
        if (::redisGetReply(context_.get(), &raw) != REDIS_OK) {
            throw std::runtime_error{context_->errstr};
        }
        Reply reply{static_cast<redisReply*>(raw), ::freeReplyObject};
        if (reply->type != REDIS_REPLY_ARRAY) throw std::runtime_error{"no array"};
        return reply;
    }

    std::unique_ptr<redisContext, void (*)(redisContext*)> context_;
};

constexpr std::size_t laps = 4;   // Of each repetition.
constexpr std::size_t reads = 5;  // Discoveries of each lap.

void must_be_all(std::size_t found) {
    if (found != Stage::instance_count) {
        throw std::runtime_error{"found " + std::to_string(found) + " instances"};
    }
}

void must_be_good(streaming::Instances const& found, Stage const& stage) {
    must_be_all(found.size());
    if (found.front().metadata != stage.instance(0).metadata) {
        throw std::runtime_error{"found other metadata"};
    }
}

}  // namespace

std::vector<Figure> measure_discovery(Stage& stage, Effort const& effort) {
    stage.fill();
    streaming::RedisServiceConsumer consumer{stage.client()};
    consumer.start();
    PlainClient plain{stage.server().socket()};
    auto const& service = stage.ids().front().service;
    std::vector<std::string> keys;
    keys.reserve(Stage::instance_count);
    for (std::size_t i = 0; i < Stage::instance_count; ++i) keys.push_back(stage.key(i));
    auto const base = keys.front().substr(0, keys.front().size() - random_digits.size());

    Series ours;
    Series one_by_one;
    Series pipelined;
    auto const lap = [&](Series& series, std::size_t times, auto const& work) {
        auto const cost = stage.measure([&] {
            for (std::size_t i = 0; i < times; ++i) work();
        });
        series.add(cost, times);
    };
    auto const discover = [&] {
        lap(ours, reads, [&] { must_be_good(consumer.all_instances(service), stage); });
    };
    auto const read_hashes = [&] {
        lap(pipelined, reads, [&] { must_be_all(plain.read_pipelined(keys)); });
    };
    for (std::size_t i = 0; i < effort.repetitions; ++i) {
        stage.fill();  // The leases are to outlast the repetition.
        // Short laps in changing order: what else happens on the machine is to meet all alike.
        for (std::size_t j = 0; j < laps; ++j) {
            if (j % 2 == 0) discover();
            read_hashes();
            if (j % 2 != 0) discover();
        }
        for (std::size_t j = 0; j < laps; ++j) {
            lap(one_by_one, 1,
                [&] { must_be_all(plain.read_one_by_one(stage.heartbeats_key(), base)); });
        }
    }

    std::string const name = "streaming.discover_1000";
    auto rate = compare(name, ours.per_second, "1/s", one_by_one.per_second,
                        "1+N round trips of a blocking client");
    rate.at_least = 10;
    auto redis = compare(name + ".redis_cpu", ours.redis_cpu, "us", pipelined.redis_cpu,
                         "Redis CPU of bare pipelined HGETALLs");
    redis.at_most = 1.2;
    return {std::move(rate), std::move(redis), client_cpu(name, ours)};
}

}  // namespace rollcall::bench
