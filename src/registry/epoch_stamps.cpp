#include "registry/epoch_stamps.hpp"

#include <boost/asio/co_spawn.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <utility>

#include "core/deadline.hpp"
#include "core/log.hpp"
#include "redis/request.hpp"
#include "redis/response.hpp"
#include "redis/session.hpp"
#include "redis/task.hpp"
#include "registry/epoch.hpp"

namespace rollcall {
namespace {

constexpr std::chrono::seconds between_assertions{10};
/// More are forgotten, and asserted once more.
constexpr std::size_t most_keys = 1'000;

}  // namespace

/// What requests on their way need of the client: they may outlive the stamps. The session lives as
/// long as the thread that they run on.
struct EpochStamps::Shared {
    asio::io_context::executor_type const executor;
    redis::Session& session;
    Log const log;
    std::chrono::milliseconds const limit;
};

struct EpochStamps::Stamp {
    static Task<void> assert_epoch(std::shared_ptr<Shared> shared, std::shared_ptr<Stamp> stamp);
    void take(redis::Response const& response, Log const& log);

    std::string const key;
    bool under_way = false;
    bool refused = false;          // Over that connection.
    bool warned = false;           // Ever.
    std::uint64_t connection = 0;  // Over which it was asserted last; 0: it is to be.
    Deadline due = {};             // In any case.
};

Task<void> EpochStamps::Stamp::assert_epoch(std::shared_ptr<Shared> shared,
                                            std::shared_ptr<Stamp> stamp) {
    redis::Request request;
    redis::Response response;
    push_epoch(request, stamp->key);
    auto const sent = co_await shared->session.exec(request, response, after(shared->limit));
    if (sent) stamp->take(response, shared->log);
}

void EpochStamps::Stamp::take(redis::Response const& response, Log const& log) {
    auto const refusal = epoch_refusal(response[0], key);
    // What passes is tried again with the next thing that is written.
    if (response[0].is_error() && !refusal) return;
    refused = refusal.has_value();
    connection = response.connection();
    due = after(between_assertions);
    if (refusal && !std::exchange(warned, true)) log.write(LogLevel::warning, "epoch", *refusal);
}

EpochStamps::EpochStamps(redis::ClientCore& core)
    : shared_(new Shared{core.io().get_executor(), core.session(), core.log(),
                         core.request_timeout()}) {}

EpochStamps::~EpochStamps() = default;

void EpochStamps::before_write(std::string_view key) {
    auto const known = stamp(key);
    auto const connection = shared_->session.connection();
    bool const again = connection == 0 || known->connection != connection;
    bool const late = !known->refused && std::chrono::steady_clock::now() >= known->due;
    if (known->under_way || !(again || late)) return;
    known->under_way = true;
    // What threw is tried again with the next thing that is written.
    auto on_end = [known](std::exception_ptr const&) { known->under_way = false; };
    asio::co_spawn(shared_->executor, Stamp::assert_epoch(shared_, known), on_end);
}

void EpochStamps::doubt(std::string_view key) {
    auto const known = stamp(key);
    if (!known->refused) known->due = {};
}

std::shared_ptr<EpochStamps::Stamp> EpochStamps::stamp(std::string_view key) {
    if (auto const found = stamps_.find(key); found != stamps_.end()) return found->second;
    if (stamps_.size() >= most_keys) stamps_.clear();
    auto const made = std::make_shared<Stamp>(std::string{key});
    return stamps_.emplace(key, made).first->second;
}

}  // namespace rollcall
