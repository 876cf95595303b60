#pragma once

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/redis/connection.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <string>

#include "redis/answer_watch.hpp"
#include "redis/fence.hpp"
#include "redis/pipeline.hpp"
#include "redis/session.hpp"

namespace rollcall::redis {

/// What a link is for.
struct LinkRole {
    std::string purpose = {};  ///< In what is logged, behind "connection": " for pushes".
    std::size_t largest_reply = std::size_t{1} << 30;
};

/// One connection to Redis with its pipeline: made, logged in to, watched, made again for ever.
///
/// The loop is our own, one Boost.Redis run for each connection, and so are log-in and PING, as
/// ordinary requests: only so are a refused password, a refused PING and a dead peer told apart.
///
/// What was written and not answered when a connection ended may arrive later than all that is
/// written on the next. So the next begins with CLIENT KILL of that one, where this user may.
///
/// Thread safety: the I/O thread only.
/// Lifetime: after `stop`, the `io_context` must have run out of work before it is destroyed.
class Link final : private Pipeline::Host {
public:
    using Connection = boost::redis::basic_connection<asio::io_context::executor_type>;

    /// Is told of each connection; of nothing after `stop`.
    class Owner {
    public:
        /// Logged in; what waits in the pipeline is about to be sent.
        virtual void on_up() = 0;
        /// The connection that was up is no more: `last_error` says why.
        virtual void on_down() = 0;
        /// An attempt to connect has ended without a connection.
        virtual void on_failed_attempt() {}
        /// Whether Redis owes an answer that the pipeline does not know of. While it does, silence
        /// is not met with a PING: that would be one more question behind the one unanswered.
        virtual bool awaits_answer() const = 0;

    protected:
        ~Owner() = default;
    };

    /// `owner` may be null; otherwise it must outlive the link.
    Link(asio::io_context& io, SessionOptions options, Log log, LinkRole role, Owner* owner);
    ~Link() override;

    void start();
    /// Fails what is waiting with `errc::closed` and closes the connection.
    void stop();
    /// Ends the current connection because of `why`; the next is made after a pause.
    void abandon(std::string why);
    /// The same, from where the connection is being read. Not the one that comes after it.
    void abandon_soon(std::string why);

    bool connected() const noexcept { return phase_ == Phase::connected; }
    bool stopped() const noexcept { return stopping_; }
    /// The `run_id` of the Redis at the other end; empty where INFO is refused.
    std::string const& server() const noexcept { return server_; }
    Deadline connected_at() const noexcept { return connected_at_; }
    /// See `Session`.
    bool absent() const noexcept { return !connected() && !denied_; }
    unsigned failed_attempts() const noexcept { return failures_; }
    std::string const& last_error() const noexcept { return last_error_; }
    std::string local_address() const;
    /// Redis said something that did not pass through the pipeline.
    void note_sign_of_life() noexcept { heard_ = true; }

    asio::io_context& io() noexcept { return io_; }
    Pipeline& pipeline() noexcept { return pipeline_; }
    Connection& connection() noexcept { return connection_; }

private:
    using Executor = asio::io_context::executor_type;
    using Timer =
        asio::basic_waitable_timer<std::chrono::steady_clock,
                                   asio::wait_traits<std::chrono::steady_clock>, Executor>;
    enum class Phase { idle, connecting, connected, ending };

    // Pipeline::Host
    void send(Flight& flight) override;
    void schedule_turn() override;
    void expect(Deadline deadline) override;
    std::string why_not_connected() const override;

    Task<void> connect_for_ever();
    void begin_attempt();
    void watch_attempt();
    void on_watch_attempt();
    void end_attempt(boost::system::error_code error);
    /// Closes the pipeline, in either phase of a connection.
    void take_down(Phase next, std::string why);
    std::chrono::milliseconds next_pause();

    void send_hello();
    void on_hello(boost::system::error_code error);
    bool was_refused();
    void note_server();
    struct Killing;
    void kill(std::vector<Fence::Ended> const& ended);
    void on_killed(Killing const& killing);
    void come_up();
    void receive(Flight& flight, Flight::Event event, boost::redis::resp3::node_view const& node);
    void watch();
    void on_watch();
    bool heard_anything();  ///< Since the last call.
    bool answers(Deadline now);
    std::optional<Deadline> owed_since() const;
    AnswerWatch::Arrived arrived();
    void send_ping();
    void set_no_delay();
    bool silent_peer() const;  ///< Connected now, and not yet logged in.
    void arm(Deadline moment);

    asio::io_context& io_;
    SessionOptions const options_;
    LinkRole const role_;
    Log const log_;
    Owner* const owner_;
    std::string last_error_ = "not started";
    Pipeline pipeline_;
    boost::redis::config config_;
    Connection connection_;
    Timer deadlines_;  // Next deadline of an operation.
    Timer clock_;      // Of the attempt, then of the watch, then of the pause.
    Deadline armed_ = Deadline::max();
    Phase phase_ = Phase::idle;
    bool was_connected_ = false;  // At the end of the last attempt.
    bool started_ = false;
    bool stopping_ = false;
    bool refused_ = false;  // The log-in, for a reason that waiting does not cure.
    bool denied_ = false;   // So ended the last attempt.
    bool turn_scheduled_ = false;
    Deadline attempt_end_ = {};
    std::optional<Deadline> silent_since_;  // Somebody took the connection and says nothing.
    unsigned failures_ = 0;                 // Attempts since the last success.
    std::minstd_rand random_;

    Request hello_;
    Response hello_replies_;
    bool hello_sent_ = false;  // Its answer or its end is still to come.
    std::string server_;
    std::int64_t client_id_ = 0;
    std::uint64_t attempt_ = 0;
    Deadline connected_at_ = {};
    Fence fence_;

    Request ping_;
    Response ping_reply_;
    bool ping_sent_ = false;
    Deadline ping_sent_at_ = {};
    bool heard_ = false;                // Anything since the last look.
    std::size_t unread_ = 0;            // At the last look.
    std::optional<Deadline> asked_at_;  // When a sign of life was asked for and none came since.
    Deadline next_look_ = {};
    bool pardoned_ = false;  // Its time began anew once since a sign of life.
    AnswerWatch answers_;
};

}  // namespace rollcall::redis
