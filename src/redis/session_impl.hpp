#pragma once

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/redis/connection.hpp>
#include <optional>
#include <random>
#include <string>

#include "redis/pipeline.hpp"
#include "redis/session.hpp"

namespace rollcall::redis {

/// The connection below a session's pipeline: made, logged in to, watched, made again.
///
/// The loop is our own, one Boost.Redis run for each connection, and so are log-in and PING, as
/// ordinary requests: only so are a refused password, a refused PING and a dead peer told apart.
struct Session::Impl final : Pipeline::Host {
    using Executor = asio::io_context::executor_type;
    using Connection = boost::redis::basic_connection<Executor>;
    using Timer =
        asio::basic_waitable_timer<std::chrono::steady_clock,
                                   asio::wait_traits<std::chrono::steady_clock>, Executor>;

    Impl(asio::io_context& context, SessionOptions settings, Log logger);

    void start();
    void stop();
    std::string local_address() const;

    // Pipeline::Host
    void send(Flight& flight) override;
    void schedule_turn() override;
    void expect(Deadline deadline) override;
    std::string why_not_connected() const override;

    asio::io_context& io;
    SessionOptions options;
    Log log;
    std::string last_error = "not started";
    Pipeline pipeline;

private:
    enum class Phase { idle, connecting, connected, ending };

    Task<void> connect_for_ever();
    void begin_attempt();
    void end_attempt(boost::system::error_code error);
    /// Ends the current connection because of `why`.
    void abandon(std::string why);
    std::chrono::milliseconds next_pause();

    void send_hello();
    void on_hello(boost::system::error_code error);
    void watch();
    void on_watch();
    void send_ping();
    void set_no_delay();
    bool silent_peer() const;  ///< Connected now, and not yet logged in.
    void arm(Deadline moment);

    boost::redis::config config_;
    Connection connection_;
    Timer deadlines_;  // Next deadline of an operation.
    Timer clock_;      // Of the attempt, then of the watch, then of the pause.
    Deadline armed_ = Deadline::max();
    Phase phase_ = Phase::idle;
    bool started_ = false;
    bool stopping_ = false;
    bool refused_ = false;  // The log-in, for a reason that waiting does not cure.
    bool turn_scheduled_ = false;
    unsigned failures_ = 0;  // Attempts since the last success.
    std::minstd_rand random_;

    Request hello_;
    Response hello_replies_;
    bool hello_sent_ = false;  // Its answer or its end is still to come.

    Request ping_;
    Response ping_reply_;
    bool ping_sent_ = false;
    bool heard_ = false;                // Anything since the last look.
    std::optional<Deadline> asked_at_;  // When a sign of life was asked for and none came since.
};

}  // namespace rollcall::redis
