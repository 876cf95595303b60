#include "registry/generation.hpp"

#include <algorithm>

namespace rollcall {
namespace {

constexpr std::string_view blanks = "\r\n";

/// `run_id` and `master_replid` of Redis are 40 hexadecimal digits; ours may be, of others we take
/// what a program may call so.
constexpr std::size_t longest_id = 128;

bool is_id(std::string_view text) {
    return !text.empty() && text.size() <= longest_id &&
           std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c <= '~'; });
}

std::string_view id_of(redis::Value info, std::string_view name) {
    if (info.is_error()) return {};
    auto const value = info_value(info.text(), name);
    return is_id(value) ? value : std::string_view{};
}

}  // namespace

std::string_view info_value(std::string_view info, std::string_view name) noexcept {
    while (!info.empty()) {
        auto const end = std::min(info.find_first_of(blanks), info.size());
        auto const line = info.substr(0, end);
        info.remove_prefix(std::min(end + 1, info.size()));
        if (line.starts_with(name) && line.substr(name.size()).starts_with(':')) {
            return line.substr(name.size() + 1);
        }
    }
    return {};
}

void ask_generation(redis::Request& request, std::string_view epoch_key) {
    request.push("CLIENT", {"ID"});
    request.push("INFO", {"server"});
    request.push("INFO", {"replication"});
    request.push("GET", {epoch_key});
}

Result<GenerationRead> generation_of(redis::Response const& replies, std::size_t first) {
    GenerationRead read;
    read.connection = replies.connection();
    read.client_id = replies[first].integer();
    auto const epoch = replies[first + 3];
    if (epoch.is_error()) {
        auto failure = redis::failure_of(epoch, "reading the epoch");
        if (is_transient(failure.code())) return failure;
        return read;
    }
    if (epoch.text().empty() || epoch.text().size() > longest_epoch) return read;

    Generation generation;
    generation.run_id = id_of(replies[first + 1], "run_id");
    generation.master_replid = id_of(replies[first + 2], "master_replid");
    if (generation.run_id.empty()) {
        // CLIENT ID alone begins anew when Redis does.
        if (read.connection == 0) return read;
        generation.run_id = "connection " + std::to_string(read.connection) + " client " +
                            std::to_string(read.client_id);
        generation.master_replid.clear();
    }
    generation.epoch = epoch.text();
    read.generation = std::move(generation);
    return read;
}

Task<Result<GenerationRead>> read_generation(redis::Session& session, std::string epoch_key,
                                             Deadline deadline) {
    redis::Request request;
    redis::Response replies;
    ask_generation(request, epoch_key);
    auto const outcome = co_await session.exec(request, replies, deadline);
    if (!outcome) co_return outcome.error();
    co_return generation_of(replies);
}

}  // namespace rollcall
