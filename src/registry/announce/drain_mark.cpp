#include "registry/announce/drain_mark.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "redis/request.hpp"
#include "redis/response.hpp"
#include "registry/exchange.hpp"

namespace rollcall::announce {
namespace {

/// All our own keys of a layout begin as its epoch does.
std::string own_prefix(std::string key) {
    key.erase(key.rfind(':') + 1);
    return key;
}

constexpr std::size_t chunk_size = 500;

}  // namespace

DrainMarks::DrainMarks(redis::ClientCore& core, LivePort const& port)
    : core_(core), prefix_(own_prefix(port.epoch_key()) + "drained:") {}

std::string DrainMarks::key_of(InstanceId const& id) const {
    return prefix_ + id.service + ':' + id.id;
}

Task<Result<void>> DrainMarks::set(InstanceId const& id, std::chrono::milliseconds time,
                                   Deadline deadline) {
    auto const key = key_of(id);
    auto const limit = std::to_string(std::max(time, std::chrono::milliseconds{1}).count());
    std::array<std::string_view, 4> const arguments{key, "1", "PX", limit};
    redis::Request request;
    redis::Response reply;
    request.push("SET", arguments);
    auto const sent = co_await core_.session().exec(request, reply, deadline);
    if (!sent) co_return sent.error();
    if (reply[0].is_error()) co_return redis::failure_of(reply[0], "writing the mark " + key);
    co_return Result<void>{};
}

Task<Result<bool>> DrainMarks::clear(InstanceId const& id, Deadline deadline) {
    auto const key = key_of(id);
    redis::Request request;
    redis::Response reply;
    request.push("DEL", {key});
    auto const sent = co_await core_.session().exec(request, reply, deadline);
    if (!sent) co_return sent.error();
    if (reply[0].is_error()) co_return redis::failure_of(reply[0], "removing the mark " + key);
    co_return reply[0].integer() > 0;
}

/// Marks are rare, and a count of many keys costs little more than one key.
Task<Result<std::vector<std::size_t>>> DrainMarks::marked_chunks(std::vector<InstanceId> const& ids,
                                                                 Deadline deadline) {
    std::vector<std::size_t> chunks;
    Reads reads;
    reads.items = (ids.size() + chunk_size - 1) / chunk_size;
    reads.bytes = 8;
    reads.push = [&](redis::Request& request, std::size_t chunk) {
        std::vector<std::string> keys;
        auto const last = std::min(ids.size(), (chunk + 1) * chunk_size);
        for (auto i = chunk * chunk_size; i < last; ++i) keys.push_back(key_of(ids[i]));
        std::vector<std::string_view> const arguments{keys.begin(), keys.end()};
        request.push("EXISTS", arguments);
    };
    reads.take = [&](redis::Response const& response, std::size_t first,
                     std::size_t last) -> std::optional<Failure> {
        for (auto chunk = first; chunk < last; ++chunk) {
            auto const reply = response[chunk - first];
            if (reply.is_error()) return redis::failure_of(reply, "reading " + prefix_ + '*');
            if (reply.integer() > 0) chunks.push_back(chunk);
        }
        return std::nullopt;
    };
    auto const done = co_await exec_reads(core_.session(), reads, deadline);
    if (done.has_error()) co_return done.error();
    co_return chunks;
}

Task<Result<std::vector<bool>>> DrainMarks::read(std::vector<InstanceId> const& ids,
                                                 Deadline deadline) {
    std::vector<bool> marked(ids.size(), false);
    auto const chunks = co_await marked_chunks(ids, deadline);
    if (chunks.has_error()) {
        auto const& why = chunks.error();
        if (is_unanswered(why) || is_transient(why.code())) co_return why;
        if (!std::exchange(warned_, true)) {
            core_.log().write(LogLevel::warning, "drain mark",
                              why.detail() + "; operators cannot drain what is announced here");
        }
        co_return marked;
    }
    std::vector<std::size_t> asked;
    for (auto const chunk : *chunks) {
        auto const last = std::min(ids.size(), (chunk + 1) * chunk_size);
        for (auto i = chunk * chunk_size; i < last; ++i) asked.push_back(i);
    }
    Reads reads;
    reads.items = asked.size();
    reads.bytes = 1;
    reads.push = [&](redis::Request& request, std::size_t i) {
        auto const key = key_of(ids[asked[i]]);
        request.push("EXISTS", {key});
    };
    reads.take = [&](redis::Response const& response, std::size_t first,
                     std::size_t last) -> std::optional<Failure> {
        for (auto i = first; i < last; ++i) marked[asked[i]] = response[i - first].integer() > 0;
        return std::nullopt;
    };
    auto const done = co_await exec_reads(core_.session(), reads, deadline);
    if (done.has_error()) co_return done.error();
    co_return marked;
}

}  // namespace rollcall::announce
