#include "registry/announce/drain_mark.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <random>
#include <string_view>
#include <utility>

#include "redis/request.hpp"
#include "redis/response.hpp"
#include "registry/exchange.hpp"
#include "registry/replies.hpp"

namespace rollcall::announce {
namespace {

using std::chrono::milliseconds;

/// All our own keys of a layout begin as its epoch does.
std::string own_prefix(std::string key) {
    key.erase(key.rfind(':') + 1);
    return key;
}

constexpr std::size_t chunk_size = 500;

/// An owner that was away for longer than its lease registers anew. One of a persistent instance
/// has no lease.
constexpr milliseconds least_afterlife = std::chrono::hours{24};

std::string text_of(milliseconds end) {
    std::random_device source;
    auto const number = std::uniform_int_distribution<std::uint64_t>{1}(source);
    return std::to_string(end.count()) + ' ' + std::to_string(number);
}

/// What nobody can read is a wish that lasts as long as the mark.
DrainMark mark_of(std::string_view text, milliseconds now) {
    DrainMark mark;
    std::int64_t end = 0;
    auto const* const last = text.data() + text.size();
    auto const read = std::from_chars(text.data(), last, end);
    if (read.ec != std::errc{} || read.ptr == last || *read.ptr != ' ') return mark;
    auto const rest = std::from_chars(read.ptr + 1, last, mark.number);
    if (rest.ec != std::errc{} || rest.ptr != last) return {};
    mark.left = milliseconds{end} - now;
    return mark;
}

}  // namespace

DrainMarks::DrainMarks(redis::ClientCore& core, LivePort const& port)
    : core_(core),
      prefix_(own_prefix(port.epoch_key()) + "drained:"),
      afterlife_(std::max(least_afterlife, port.lease())) {}

std::string DrainMarks::key_of(InstanceId const& id) const {
    return prefix_ + id.service + ':' + id.id;
}

Task<Result<void>> DrainMarks::set(InstanceId const& id, milliseconds time, Deadline deadline) {
    auto const now = co_await clock(deadline);
    if (now.has_error()) co_return now.error();
    auto const key = key_of(id);
    auto const value = text_of(*now + time);
    auto const limit = std::to_string((time + afterlife_).count());
    std::array<std::string_view, 4> const arguments{key, value, "PX", limit};
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

Task<Result<milliseconds>> DrainMarks::clock(Deadline deadline) {
    redis::Request request;
    redis::Response reply;
    request.push("TIME", {});
    auto const sent = co_await core_.session().exec(request, reply, deadline);
    if (!sent) co_return sent.error();
    if (reply[0].is_error()) co_return redis::failure_of(reply[0], "reading the time");
    co_return time_of(reply[0]);
}

Result<DrainMarks::Marks> DrainMarks::refused(Failure const& why, std::size_t count) {
    if (is_unanswered(why) || is_transient(why.code())) return why;
    if (!std::exchange(warned_, true)) {
        core_.log().write(LogLevel::warning, "drain mark",
                          why.detail() + "; operators cannot drain what is announced here");
    }
    return Marks(count);
}

Task<Result<DrainMarks::Marks>> DrainMarks::read(std::vector<InstanceId> const& ids,
                                                 Deadline deadline) {
    auto const chunks = co_await marked_chunks(ids, deadline);
    if (chunks.has_error()) co_return refused(chunks.error(), ids.size());
    Marks marks(ids.size());
    if (chunks->empty()) co_return marks;
    auto const now = co_await clock(deadline);
    if (now.has_error()) co_return refused(now.error(), ids.size());
    std::vector<std::size_t> asked;
    for (auto const chunk : *chunks) {
        auto const last = std::min(ids.size(), (chunk + 1) * chunk_size);
        for (auto i = chunk * chunk_size; i < last; ++i) asked.push_back(i);
    }
    Reads reads;
    reads.items = asked.size();
    reads.bytes = 40;
    reads.push = [&](redis::Request& request, std::size_t i) {
        auto const key = key_of(ids[asked[i]]);
        request.push("GET", {key});
    };
    reads.take = [&](redis::Response const& response, std::size_t first,
                     std::size_t last) -> std::optional<Failure> {
        for (auto i = first; i < last; ++i) {
            auto const reply = response[i - first];
            if (reply.is_error() && !redis::is_wrong_type(reply)) {
                return redis::failure_of(reply, "reading " + prefix_ + '*');
            }
            if (!reply.is_error() && !reply.is_null())
                marks[asked[i]] = mark_of(reply.text(), *now);
        }
        return std::nullopt;
    };
    auto const done = co_await exec_reads(core_.session(), reads, deadline);
    if (done.has_error()) co_return refused(done.error(), ids.size());
    co_return marks;
}

}  // namespace rollcall::announce
