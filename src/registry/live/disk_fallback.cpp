#include "registry/live/disk_fallback.hpp"

#include <boost/asio/post.hpp>
#include <utility>

namespace rollcall::live {
namespace {

// One that failed may have come a moment too early.
constexpr unsigned attempts_that_convince = 2;
constexpr std::chrono::milliseconds between_looks{100};

bool is_unreachable(Failure const& why) {
    return why.code() == errc::not_connected || why.code() == errc::timeout ||
           why.code() == errc::unavailable;
}

}  // namespace

DiskFallback::DiskFallback(redis::ClientCore& core, std::shared_ptr<disk::SnapshotStore> store,
                           std::string service)
    : core_(core),
      store_(std::move(store)),
      service_(std::move(service)),
      timer_(core_.io().get_executor()) {}

void DiskFallback::begin(Show show) {
    show_ = std::move(show);
    phase_ = Phase::waiting;
    core_.session().attach(*this);
    attempt_failed();
    if (phase_ == Phase::waiting) look_after(core_.request_timeout() / 2);
}

void DiskFallback::attempt_failed() {
    auto const& session = core_.session();
    if (session.absent() && session.failed_attempts() >= attempts_that_convince) ask();
}

void DiskFallback::look_after(std::chrono::milliseconds pause) {
    timer_.expires_after(pause);
    timer_.async_wait([weak = weak_from_this()](boost::system::error_code error) {
        auto const self = weak.lock();
        if (error || !self || self->phase_ != Phase::waiting) return;
        if (self->core_.session().absent()) return self->ask();
        self->look_after(between_looks);
    });
}

void DiskFallback::read_failed(Failure const& why) {
    if (is_unreachable(why)) ask();
}

void DiskFallback::ask() {
    if (phase_ != Phase::waiting) return;
    phase_ = Phase::asked;
    core_.session().detach(*this);
    timer_.cancel();
    store_->read(service_, [weak = weak_from_this(),
                            core = core_.shared_from_this()](disk::SavedService saved) {
        asio::post(core->io(), [weak, found = std::move(saved)] {
            if (auto const self = weak.lock()) self->answered(found);
        });
    });
}

void DiskFallback::answered(disk::SavedService const& saved) {
    if (phase_ == Phase::asked) show_(saved);
}

void DiskFallback::end() {
    if (std::exchange(phase_, Phase::over) == Phase::waiting) {
        core_.session().detach(*this);
        timer_.cancel();
    }
    show_ = nullptr;
}

}  // namespace rollcall::live
