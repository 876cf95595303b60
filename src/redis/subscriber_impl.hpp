#pragma once

#include <boost/redis/request.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "redis/key_watch.hpp"
#include "redis/link.hpp"
#include "redis/push.hpp"
#include "redis/subscriber.hpp"
#include "redis/subscriptions.hpp"

namespace rollcall::redis {

/// The order of things on the connection for pushes:
///
///     connected → the keys are tracked → SUBSCRIBE … answered → SUBSCRIBE … answered → …
///
/// While a SUBSCRIBE is out the pipeline is held. If it is refused, that comes as a bare error,
/// which Boost.Redis takes for a push only as long as no reply is due behind it.
struct Subscriber::Impl final : private Link::Owner {
public:
    Impl(asio::io_context& io, SessionOptions session, SubscriberOptions options, Log log);

    void start();
    void stop();
    void attach(PushHandler& handler);
    void detach(PushHandler& handler);
    Result<void> subscribe(PushHandler& handler, Topic const& topic);
    void unsubscribe(PushHandler& handler, Topic const& topic);
    Result<void> track(PushHandler& handler, std::string const& key);
    Task<Result<void>> ping(Deadline deadline);

    std::uint64_t disturbances() const noexcept { return inbox_.disturbances(); }
    std::uint64_t unknown_pushes() const noexcept { return unknown_; }
    Link& link() noexcept { return link_; }

private:
    using Timer = asio::basic_waitable_timer<std::chrono::steady_clock,
                                             asio::wait_traits<std::chrono::steady_clock>,
                                             asio::io_context::executor_type>;

    // Link::Owner
    void on_up() override;
    void on_down() override;
    bool awaits_answer() const override { return subscriptions_.awaits_answer(); }

    Task<void> receive_for_ever();
    void deliver();
    void hand_on(Push const& push);
    void hand_on_message(Push const& push);
    void on_confirmed(Push const& push);
    void on_invalidated(Value keys);
    void on_error(Value refusal);
    void on_unknown(std::string_view text);
    /// Calls `tell_one(handler)` for those of `chosen` that are attached.
    template <class Tell>
    void tell(std::vector<PushHandler*> const& chosen, Tell tell_one);
    /// Runs `act`, which calls handlers; what they throw ends the connection.
    template <class Act>
    void contain(Act act);

    void schedule();  ///< `proceed` soon.
    void proceed();
    void send_command(Subscriptions::Command const& command);
    void on_command_written();
    void on_command_answered();
    Task<void> track_due_keys();
    bool note_tracking(Value reply);
    void schedule_retry(bool transient);

    asio::io_context& io_;
    SubscriberOptions const options_;
    Log const log_;
    PushInbox inbox_;
    Link link_;
    Subscriptions subscriptions_;
    KeyWatch keys_;
    std::vector<PushHandler*> handlers_;
    std::uint64_t unknown_ = 0;
    bool receiving_ = false;
    bool delivering_ = false;
    bool scheduled_ = false;

    boost::redis::request command_;
    bool command_pending_ = false;  // Boost.Redis still refers to it.
    Timer answer_;                  // Ends the connection on which it is not answered.

    bool tracking_keys_ = false;  // A reading is out.
    bool tracking_on_ = false;    // On this connection.
    bool tracking_told_ = false;  // That it is refused.
    Timer retry_;
    bool retry_scheduled_ = false;
    std::chrono::milliseconds pause_;  // Before the next retry.

    Request ping_;
    std::size_t pings_ = 0;  // Waiting.
};

}  // namespace rollcall::redis
