#pragma once

#include <boost/asio/any_completion_handler.hpp>
#include <boost/intrusive/list.hpp>
#include <boost/redis/adapter/any_adapter.hpp>
#include <boost/redis/request.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/deadline.hpp"
#include "core/result.hpp"
#include "redis/deadline_wheel.hpp"
#include "redis/request.hpp"

namespace rollcall::redis {

class Flight;

/// One request on its way. Lives in the frame of the coroutine that waits for it, and must not be
/// destroyed before `resume` was called.
struct Operation : Timed {
    using Hook = boost::intrusive::list_member_hook<
        boost::intrusive::link_mode<boost::intrusive::auto_unlink>>;
    enum class State { idle, waiting, sent, done };

    Operation(Request const& commands, Response& replies, Deadline limit, bool repeatable)
        : Timed{limit, {}}, request(&commands), response(&replies), idempotent(repeatable) {}

    Request const* request;  // Read when sent, not after.
    Response* response;
    bool idempotent;
    std::optional<Failure> failure = {};  // Set when done and failed.
    boost::asio::any_completion_handler<void()> resume = {};

    // The pipeline's.
    State state = State::idle;
    bool ever_sent = false;
    Flight* flight = nullptr;  // While sent.
    std::size_t slot = 0;
    Hook queue_hook = {};
};

/// Several operations joined into one Boost.Redis request; hands each reply to its operation.
///
/// Replies of operations that gave up in between are read and dropped.
class Flight {
public:
    using Event = boost::redis::any_adapter::parse_event;

    void add(Operation& operation);
    void clear();

    boost::redis::request const& wire() const noexcept { return wire_; }
    std::size_t size() const noexcept { return slots_.size(); }
    void note_sent(Deadline at) noexcept { sent_at_ = at; }

private:
    friend class Pipeline;
    struct Slot {
        Operation* operation;
        std::size_t missing;  // Replies.
    };

    boost::redis::request wire_{boost::redis::request::config{true, false, true, false}};
    std::vector<Slot> slots_;
    Deadline sent_at_ = {};
    std::size_t current_ = 0;  // The slot whose reply comes next.
};

/// The order of things on one connection: who waits, who was sent, whose time is up.
///
/// Operations that arrive during one turn of the event loop are sent as one request, and those
/// whose replies were read together are resumed together: a request of its own for each costs
/// several times as much. Knows neither sockets nor timers.
class Pipeline {
public:
    /// What the pipeline needs of its surroundings.
    class Host {
    public:
        virtual ~Host() = default;
        virtual void send(Flight& flight) = 0;     ///< Must end in `landed`, not from within.
        virtual void schedule_turn() = 0;          ///< Must call `turn()` soon, not from within.
        virtual void expect(Deadline moment) = 0;  ///< `expire` is worth calling then.
        virtual std::string why_not_connected() const = 0;
    };

    Pipeline(Host& host, std::size_t max_in_flight, Deadline now);

    void submit(Operation& operation);
    void cancel(Operation& operation);  ///< Nothing happens to one that is done.

    void open();   ///< Connected: what waits may be sent.
    void close();  ///< Not connected.
    /// Fails all that waits, and from now on all that comes, until `open` or `wait_again`.
    void refuse(Failure const& failure);
    void wait_again() { refusal_.reset(); }
    bool is_open() const noexcept { return open_; }
    /// Its number, counted from 1; 0 while there is none.
    std::uint64_t connection() const noexcept { return open_ ? opened_ : 0; }
    /// When the oldest was sent that is not answered.
    std::optional<Deadline> owed_since() const;
    /// Whether something was sent on this connection, or on the last one, and not answered.
    bool left_unanswered() const noexcept { return lost_ || in_flight_ > 0; }
    void hold() noexcept { held_ = true; }  ///< Sends nothing until `release`, however open.
    void release();

    /// A piece of a reply to `flight`.
    void receive(Flight& flight, Flight::Event event, boost::redis::resp3::node_view const& node);
    /// All replies to `flight` have come, or, when `lost`, no more will.
    void landed(Flight& flight, bool lost);

    void turn();  ///< Resumes whom it can, then sends what it may.
    void expire(Deadline now);
    std::optional<Deadline> next_deadline() const { return wheel_.next(); }

private:
    using List = boost::intrusive::list<
        Operation,
        boost::intrusive::member_hook<Operation, Operation::Hook, &Operation::queue_hook>,
        boost::intrusive::constant_time_size<false>>;

    void finish(Operation& operation, std::optional<Failure> failure);
    void give_up(Operation& operation);
    void resume_ready();
    void send_waiting();
    std::unique_ptr<Flight> take_flight();

    Host& host_;
    std::size_t max_in_flight_;
    DeadlineWheel wheel_;
    List again_;    // Lost with a connection; sent before those that wait.
    List waiting_;  // In order of arrival.
    List ready_;    // Done, not yet resumed.
    std::vector<std::unique_ptr<Flight>> flying_;
    std::vector<std::unique_ptr<Flight>> spare_;
    std::size_t in_flight_ = 0;  // Operations sent and not answered, those that gave up included.
    std::optional<Failure> refusal_;
    std::uint64_t opened_ = 0;  // How often: the number of the connection.
    bool open_ = false;
    bool held_ = false;
    bool lost_ = false;  // Answers, on this connection.
    bool in_turn_ = false;
};

}  // namespace rollcall::redis
