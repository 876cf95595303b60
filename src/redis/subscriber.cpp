#include "redis/subscriber.hpp"

#include "redis/subscriber_impl.hpp"

namespace rollcall::redis {

Subscriber::Subscriber(asio::io_context& io, SessionOptions session, SubscriberOptions options,
                       Log log)
    : impl_(std::make_unique<Impl>(io, std::move(session), options, std::move(log))) {}

Subscriber::~Subscriber() = default;

void Subscriber::start() { impl_->start(); }

void Subscriber::stop() { impl_->stop(); }

void Subscriber::attach(PushHandler& handler) { impl_->attach(handler); }

void Subscriber::detach(PushHandler& handler) { impl_->detach(handler); }

Result<void> Subscriber::subscribe(PushHandler& handler, Topic const& topic) {
    return impl_->subscribe(handler, topic);
}

void Subscriber::unsubscribe(PushHandler& handler, Topic const& topic) {
    impl_->unsubscribe(handler, topic);
}

Result<void> Subscriber::track(PushHandler& handler, std::string const& key) {
    return impl_->track(handler, key);
}

Task<Result<void>> Subscriber::ping(Deadline deadline) { return impl_->ping(deadline); }

std::uint64_t Subscriber::disturbances() const noexcept { return impl_->disturbances(); }

std::uint64_t Subscriber::unknown_pushes() const noexcept { return impl_->unknown_pushes(); }

bool Subscriber::connected() const noexcept { return impl_->link().connected(); }

std::string const& Subscriber::last_error() const noexcept { return impl_->link().last_error(); }

}  // namespace rollcall::redis
