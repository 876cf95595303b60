#include "rollcall/client.hpp"

#include <algorithm>
#include <utility>

#include "redis/client_core.hpp"

namespace rollcall {
namespace {

constexpr std::chrono::milliseconds between_looks{50};
constexpr std::chrono::hours longest_wait{24 * 365};

Task<Result<void>> ping_until_answered(redis::Session& session, Deadline deadline) {
    redis::Request request;
    request.push("PING");
    redis::Response response;
    Result<void> refused;
    for (;;) {
        auto const sent = co_await session.exec(request, response, deadline);
        // That it was refused until the deadline says more than that the last one came too late.
        if (!sent) co_return refused ? sent : refused;
        auto const reply = response[0];
        if (!reply.is_error()) co_return Result<void>{};
        refused = redis::failure_of(reply, "PING");
        if (!is_transient(refused.error().code())) co_return refused;
        co_await pause(between_looks);
    }
}

Result<void> wait_until_ready(redis::ClientCore& core, std::chrono::milliseconds limit) {
    auto const deadline = after(std::clamp<std::chrono::milliseconds>(limit, {}, longest_wait));
    return core.run([&] { return ping_until_answered(core.session(), deadline); });
}

/// What is left of it may be used on; only nobody waits for time to pass.
void end(std::shared_ptr<redis::ClientCore> const& core) noexcept {
    if (core && !core->closed()) core->recess().end();
}

}  // namespace

Client::Client(std::string url) : Client(ClientOptions{.url = std::move(url)}) {}

Client::Client(ClientOptions options) : core_(redis::ClientCore::create(std::move(options))) {}

Client::~Client() { end(core_); }
Client::Client(Client&&) noexcept = default;

Client& Client::operator=(Client&& other) noexcept {
    if (this != &other) {
        end(core_);
        core_ = std::move(other.core_);
    }
    return *this;
}

void Client::wait_until_ready(std::chrono::milliseconds limit) {
    rollcall::wait_until_ready(*core_, limit).value();
}

bool Client::wait_until_ready(std::chrono::milliseconds limit, std::error_code& error) {
    auto const outcome = rollcall::wait_until_ready(*core_, limit);
    error = outcome ? std::error_code{} : outcome.error().code();
    return outcome.has_value();
}

std::string Client::address() const { return core_->url().to_string(); }

}  // namespace rollcall
