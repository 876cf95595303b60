#include "redis/session.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "redis/link.hpp"
#include "redis/submit.hpp"

namespace rollcall::redis {
namespace {

/// The script calls of `request` that Redis answered with exactly NOSCRIPT: not executed.
std::vector<std::size_t> not_executed(Request const& request, Response const& response) {
    std::vector<std::size_t> found;
    auto const& scripts = request.scripts();
    for (std::size_t i = 0; i < scripts.size(); ++i) {
        auto const reply = response[scripts[i].command];
        if (reply.is_error() && reply.text().starts_with("NOSCRIPT ")) found.push_back(i);
    }
    return found;
}

}  // namespace

struct Session::Listeners final : Link::Owner {
    void on_up() override { tell(&ConnectionListener::connected); }
    void on_down() override { tell(&ConnectionListener::disconnected); }
    void on_failed_attempt() override { tell(&ConnectionListener::attempt_failed); }
    bool awaits_answer() const override { return false; }

    void tell(void (ConnectionListener::*what)()) {
        // One may detach another.
        for (auto* const listener : std::vector{all}) {
            if (std::find(all.begin(), all.end(), listener) != all.end()) (listener->*what)();
        }
    }

    std::vector<ConnectionListener*> all;
};

Session::Session(asio::io_context& io, SessionOptions options, Log log)
    : listeners_(std::make_unique<Listeners>()),
      link_(std::make_unique<Link>(io, std::move(options), std::move(log), LinkRole{},
                                   listeners_.get())) {}

Session::~Session() = default;

void Session::start() { link_->start(); }

void Session::stop() { link_->stop(); }

void Session::attach(ConnectionListener& listener) { listeners_->all.push_back(&listener); }

void Session::detach(ConnectionListener& listener) { std::erase(listeners_->all, &listener); }

bool Session::connected() const noexcept { return link_->connected(); }

std::uint64_t Session::connection() const noexcept { return link_->pipeline().connection(); }

bool Session::absent() const noexcept { return link_->absent(); }

unsigned Session::failed_attempts() const noexcept { return link_->failed_attempts(); }

std::string const& Session::last_error() const noexcept { return link_->last_error(); }

std::string Session::local_address() const { return link_->local_address(); }

Task<Result<void>> Session::exec(Request const& request, Response& response, Deadline deadline,
                                 bool idempotent) {
    Operation operation{request, response, deadline, idempotent};
    co_await submit(link_->io(), link_->pipeline(), operation);
    if (operation.failure) co_return *std::move(operation.failure);

    auto const missing = not_executed(request, response);
    if (missing.empty()) co_return Result<void>{};
    Request again;
    std::vector<std::size_t> positions;
    for (auto const index : missing) {
        auto const& call = request.scripts()[index];
        again.push_evaluated(request, call);
        positions.push_back(call.command);
    }
    Response replies;
    Operation repeated{again, replies, deadline, idempotent};
    co_await submit(link_->io(), link_->pipeline(), repeated);
    if (repeated.failure) co_return *std::move(repeated.failure);
    response.replace(positions, std::move(replies));
    co_return Result<void>{};
}

}  // namespace rollcall::redis
