// One Hash of this layout made into an instance: from its fields, and from the bytes of the reply
// to HGETALL.

#include <benchmark/benchmark.h>
#include <boost/json/parse.hpp>
#include <boost/redis/resp3/parser.hpp>
#include <chrono>
#include <cstdint>
#include <hiredis.h>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "allocations.hpp"
#include "redis/response.hpp"
#include "streaming/json_map.hpp"

#include "rollcall/streaming/instance_entry_codec.hpp"

namespace rollcall::bench {
namespace {

using streaming::InstanceEntryCodec;
using Field = InstanceEntryCodec::Field;

constexpr std::string_view metadata =
    R"({"version":"2.14.0","region":"eu-central-1","zone":"eu-central-1b",)"
    R"("path":"http:\/\/10.0.12.34:8080\/api","team":"payments","commit":"9f8e7d6c5b4a"})";

constexpr Field hash[] = {
    {"host", "10.0.12.34"},
    {"port", "8080"},
    {"protocol", "http"},
    {"enabled", "true"},
    {"healthy", "true"},
    {"ephemeral", "true"},
    {"weight", "1"},
    {"registrationTime", "1760000000123"},
    {"lastHeartbeatTime", "1760000005123"},
    {"lastMetadataUpdate", "1760000000123"},
    {"metadata", metadata},
};

/// The reply as Redis sends it to a RESP3 connection, or to one of RESP2, the only one that older
/// versions of hiredis know.
std::string reply_bytes(int resp) {
    auto const size = std::size(hash);
    std::string bytes = resp == 3 ? '%' + std::to_string(size) : '*' + std::to_string(2 * size);
    bytes += "\r\n";
    for (auto const& [name, value] : hash) {
        for (auto const text : {name, value}) {
            bytes += '$' + std::to_string(text.size()) + "\r\n" + std::string{text} + "\r\n";
        }
    }
    return bytes;
}

struct FreeReply {
    void operator()(redisReply* reply) const { freeReplyObject(reply); }
};
struct FreeReader {
    void operator()(redisReader* reader) const { redisReaderFree(reader); }
};

std::unique_ptr<redisReply, FreeReply> read_by_hiredis(redisReader* reader,
                                                       std::string const& bytes) {
    void* reply = nullptr;
    redisReaderFeed(reader, bytes.data(), bytes.size());
    if (redisReaderGetReply(reader, &reply) != REDIS_OK) throw std::runtime_error("bad reply");
    return std::unique_ptr<redisReply, FreeReply>{static_cast<redisReply*>(reply)};
}

std::string_view text_of(redisReply const* reply) { return {reply->str, reply->len}; }

/// What one writes without a thought for cost.
std::optional<streaming::StoredInstance> map_by_boost_json(redisReply const* reply) {
    std::unordered_map<std::string, std::string> fields;
    for (std::size_t i = 0; i + 1 < reply->elements; i += 2) {
        fields.emplace(text_of(reply->element[i]), text_of(reply->element[i + 1]));
    }
    if (!fields.contains("host") || !fields.contains("port")) return std::nullopt;
    auto const time = [&fields](char const* name) {
        return std::chrono::system_clock::time_point{
            std::chrono::milliseconds{std::stoll(fields.at(name))}};
    };
    streaming::StoredInstance stored;
    stored.instance.service_name = "payments";
    stored.instance.instance_id = "payments-10.0.12.34_8080";
    stored.instance.host = fields.at("host");
    stored.instance.port = std::stoi(fields.at("port"));
    stored.instance.scheme = fields.at("protocol");
    stored.instance.enabled = fields.at("enabled") == "true";
    stored.instance.healthy = fields.at("healthy") == "true";
    stored.instance.ephemeral = fields.at("ephemeral") == "true";
    stored.instance.weight = std::stoi(fields.at("weight"));
    stored.state.registered_at = time("registrationTime");
    stored.state.last_heartbeat_at = time("lastHeartbeatTime");
    auto const document = boost::json::parse(fields.at("metadata"));
    for (auto const& [key, value] : document.as_object()) {
        stored.instance.metadata.emplace(key, value.as_string());
    }
    return stored;
}

std::optional<streaming::StoredInstance> decode(std::span<Field const> fields) {
    return InstanceEntryCodec::parse_instance("payments", "payments-10.0.12.34_8080", fields);
}

void decode_fields(benchmark::State& state) {
    CountAllocations const count{state};
    for (auto _ : state) benchmark::DoNotOptimize(decode(hash));
}
BENCHMARK(decode_fields)->Name("decode/fields");

void decode_reply(benchmark::State& state) {
    auto const bytes = reply_bytes(3);
    redis::Response response;
    std::vector<Field> fields;
    CountAllocations const count{state};
    for (auto _ : state) {
        response.clear();
        boost::redis::resp3::parser parser;
        boost::system::error_code error;
        response.begin_reply();
        while (!parser.done()) response.add(*parser.consume(bytes, error));
        response.end_reply();
        fields.clear();
        auto const reply = response[0];
        for (auto at = reply.begin(); at != reply.end(); ++at) {
            auto const name = (*at).text();
            fields.emplace_back(name, (*++at).text());
        }
        benchmark::DoNotOptimize(decode(fields));
    }
}
BENCHMARK(decode_reply)->Name("decode/reply");

void map_reply(benchmark::State& state) {
    auto const bytes = reply_bytes(2);
    std::unique_ptr<redisReader, FreeReader> const reader{redisReaderCreate()};
    auto const reply = read_by_hiredis(reader.get(), bytes);
    if (map_by_boost_json(reply.get())->instance != decode(hash)->instance) {
        state.SkipWithError("the rival reads something else");
    }
    CountAllocations const count{state};
    for (auto _ : state) benchmark::DoNotOptimize(map_by_boost_json(reply.get()));
}
BENCHMARK(map_reply)->Name("decode/fields by unordered_map and Boost.JSON");

void decode_hiredis(benchmark::State& state) {
    auto const bytes = reply_bytes(2);
    std::unique_ptr<redisReader, FreeReader> const reader{redisReaderCreate()};
    std::vector<Field> fields;
    CountAllocations const count{state};
    for (auto _ : state) {
        auto const reply = read_by_hiredis(reader.get(), bytes);
        fields.clear();
        for (std::size_t i = 0; i + 1 < reply->elements; i += 2) {
            fields.emplace_back(text_of(reply->element[i]), text_of(reply->element[i + 1]));
        }
        benchmark::DoNotOptimize(decode(fields));
    }
}
BENCHMARK(decode_hiredis)->Name("decode/reply by hiredis and ours");

void decode_rival(benchmark::State& state) {
    auto const bytes = reply_bytes(2);
    std::unique_ptr<redisReader, FreeReader> const reader{redisReaderCreate()};
    CountAllocations const count{state};
    for (auto _ : state) {
        auto const reply = read_by_hiredis(reader.get(), bytes);
        benchmark::DoNotOptimize(map_by_boost_json(reply.get()));
    }
}
BENCHMARK(decode_rival)->Name("decode/reply by hiredis, unordered_map and Boost.JSON");

constexpr std::string_view documents[] = {"{}", R"({"region":"eu-central-1"})", metadata};

void read_metadata(benchmark::State& state) {
    auto const document = documents[state.range(0)];
    CountAllocations const count{state};
    for (auto _ : state) benchmark::DoNotOptimize(streaming::read_json_map(document));
}
BENCHMARK(read_metadata)->Name("metadata")->ArgName("document")->DenseRange(0, 2);

void read_metadata_by_parser(benchmark::State& state) {
    auto const document = documents[state.range(0)];
    CountAllocations const count{state};
    for (auto _ : state) benchmark::DoNotOptimize(streaming::read_json_map_by_parser(document));
}
BENCHMARK(read_metadata_by_parser)
    ->Name("metadata by parser")
    ->ArgName("document")
    ->DenseRange(0, 2);

}  // namespace
}  // namespace rollcall::bench
