#include "registry/generation.hpp"

#include "redis/info.hpp"

namespace rollcall {

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
    generation.run_id = redis::info_id(replies[first + 1], "run_id");
    generation.master_replid = redis::info_id(replies[first + 2], "master_replid");
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
