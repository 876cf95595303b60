#include "registry/sweep_lease.hpp"

#include <array>
#include <random>
#include <string_view>
#include <utility>

#include "redis/request.hpp"
#include "redis/response.hpp"
#include "registry/scripts.hpp"

namespace rollcall {
namespace {

std::string random_token() {
    std::random_device source;
    std::string token;
    for (int i = 0; i < 4; ++i) token += std::to_string(source()) + '-';
    return token;
}

}  // namespace

SweepLease::SweepLease(std::shared_ptr<redis::ClientCore> core, std::string key)
    : core_(std::move(core)), key_(std::move(key)), token_(random_token()) {}

Task<Result<bool>> SweepLease::ask(std::chrono::milliseconds hold, Deadline deadline) {
    auto const hold_text = std::to_string(hold.count());
    std::array<std::string_view, 1> const keys{key_};
    std::array<std::string_view, 2> const arguments{token_, hold_text};
    redis::Request request;
    redis::Response response;
    request.push_script(scripts::sweep_lease, keys, arguments);
    auto const outcome = co_await core_->session().exec(request, response, deadline);
    if (outcome.has_error()) co_return outcome.error();
    if (response[0].is_error()) co_return redis::failure_of(response[0], "take the sweeping lease");
    co_return response[0].integer() == 1;
}

Task<Result<bool>> SweepLease::take(std::chrono::milliseconds hold, Deadline deadline) {
    held_ = true;
    auto taken = co_await ask(hold, deadline);
    if (taken.has_value()) held_ = *taken;
    if (taken.has_value() || is_transient(taken.error().code())) co_return taken;
    core_->log().write(
        LogLevel::warning, "sweep-lease",
        "sweeps without the lease that saves double work: " + taken.error().detail());
    co_return true;
}

Task<Result<void>> SweepLease::yield(Deadline deadline) {
    if (!std::exchange(held_, false) || !core_->session().connected()) co_return Result<void>{};
    auto const done = co_await ask(std::chrono::milliseconds{0}, deadline);
    if (done.has_error()) co_return done.error();
    co_return Result<void>{};
}

}  // namespace rollcall
