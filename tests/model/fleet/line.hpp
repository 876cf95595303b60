#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <random>

#include "model/fleet/redis.hpp"
#include "model/fleet/timeline.hpp"

namespace rollcall::test::fleet {

/// The way between a process and Redis, on which all of its connections go.
struct Path {
    Time blocked_until = Time::min();
    Time slow_until = Time::min();
    milliseconds extra{0};  ///< One way, while it is slow.

    bool blocked(Time now) const { return now < blocked_until; }
};

/// One connection of a process, as `redis::Link` and its pipeline keep it: made again for ever. In
/// order, both ways.
class Line final : private Redis::Listener {
public:
    class Owner {
    public:
        virtual void on_up(Line& line) = 0;
        virtual void on_down(Line& line) = 0;
        virtual void on_push(Line& line, Push const& push) = 0;

    protected:
        ~Owner() = default;
    };
    using CarryOut = std::function<void()>;  ///< At the server.
    using Then = std::function<void(bool)>;  ///< At the process: whether it was answered.

    /// What becomes of what was asked and not answered when the connection is lost.
    enum class Unanswered : std::uint8_t { asked_again, failed };

    static constexpr milliseconds time_limit{2'000};

    Line(Timeline& timeline, Redis& redis, Path const& path, Owner& owner, Unanswered unanswered,
         std::uint64_t seed);
    Line(Line const&) = delete;
    Line& operator=(Line const&) = delete;
    ~Line();

    void start() { attempt(); }
    /// Of a process that died: what it has sent may still arrive.
    void end();

    bool up() const noexcept { return up_; }
    /// Of the connection by which a request is carried out or answered now.
    std::uint64_t connection() const noexcept { return connection_; }
    void ask(CarryOut carry_out, Then then);

    // At the server.
    void listen(std::vector<std::string> const& services) { services_ = services; }
    void track() { tracks_ = true; }

    // Faults.
    void cut();
    /// Nothing passes any more until then, as `Path` knows already.
    void on_block();

private:
    struct Request {
        CarryOut carry_out;
        Then then;
        Time deadline;
        bool done = false;
    };
    using RequestPtr = std::shared_ptr<Request>;

    // Redis::Listener
    bool listens_to(std::string const& service) const override;
    bool tracks() const override { return tracks_; }
    void stop_tracking() override { tracks_ = false; }
    void push(Push const& push) override;

    void attempt();
    void fail_attempt(microseconds after);
    void connect();
    void take_down();
    void fail_asked();
    void send(RequestPtr const& request);
    void arrive(RequestPtr const& request, std::uint64_t connection);
    void land(RequestPtr const& request, std::uint64_t connection);
    void arrive(Push const& push, std::uint64_t connection);
    void watch_deadlines();
    microseconds latency();
    microseconds draw(microseconds from, microseconds to);
    Time there();
    Time back();

    Timeline& timeline_;
    Redis& redis_;
    Path const& path_;
    Owner& owner_;
    Unanswered const unanswered_;
    std::minstd_rand random_;
    bool ended_ = false;
    bool up_ = false;
    bool connecting_ = false;
    std::uint64_t connection_ = 0;
    unsigned failures_ = 0;
    std::deque<RequestPtr> asked_;  // And not answered, in order.
    bool watching_ = false;
    Time last_there_ = Time::min();
    Time last_back_ = Time::min();
    Time drained_until_ = Time::min();  // What arrives by a broken connection until then counts.
    std::vector<std::string> services_;
    bool tracks_ = false;
};

}  // namespace rollcall::test::fleet
