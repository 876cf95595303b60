#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "model/fleet/world.hpp"
#include "registry/live/instance_table.hpp"
#include "registry/live/service_feed.hpp"

namespace rollcall::test::fleet {

/// A reader that watches all services, each with a real `ServiceFeed` and the table behind its
/// snapshots, driven as `WatchedService` drives them.
class Watching final : public Process {
public:
    /// `reader`: its number among the readers.
    Watching(World& world, std::size_t number, std::size_t reader);

    void start() override;
    void on_up(Line& line) override;
    void on_down(Line& line) override;
    void on_push(Line& line, Push const& push) override;

private:
    struct Watched {
        Watched(std::string of, FeedOptions const& options, Time now)
            : name(std::move(of)), feed(options, now) {}
        std::string const name;
        ServiceFeed feed;
        live::InstanceTablePtr table = live::InstanceTable::empty_table();
        bool reading = false;
        bool woken = false;
        bool doubtful = false;
        Time doubt_not_before = Time::min();
        Time planned = Time::max();
    };
    struct Reading {
        Watched* service;
        FeedRead read;
        FeedAnswer answer = {};
        Lifetime before = {};
        std::uint64_t connection = 0;  // By which that was asked.
        std::vector<Contents::Member> members = {};
        Time asked_at = {};
    };
    using ReadingPtr = std::shared_ptr<Reading>;
    using Done = std::function<void()>;

    void track(Done then);
    void subscribe();
    void wake(Watched& service);
    void turn(Watched& service);
    void plan(Watched& service);
    void pass_doubt_on(Watched& service);

    void begin(Watched& service, FeedRead read);
    void ask_before(ReadingPtr const& reading);
    void look(ReadingPtr const& reading);
    void look_at_all(ReadingPtr const& reading);
    void look_at_members(ReadingPtr const& reading);
    void see(Reading& reading, Sighting sighting) const;
    void ask_after(ReadingPtr const& reading);
    void ping(ReadingPtr const& reading);
    void finish(ReadingPtr const& reading, bool complete);
    /// Asks, and goes on with `then`, or ends the read as incomplete.
    void ask(ReadingPtr const& reading, Done carry_out, Done then);

    void publish(Watched& service, FeedOutcome const& outcome);
    void judge(Watched& service, FeedOutcome const& outcome);
    Watched* find(std::string const& service);

    std::size_t const reader_;
    Line& commands_;
    Line& pushes_;
    Generations generations_;
    std::vector<std::unique_ptr<Watched>> services_;
};

}  // namespace rollcall::test::fleet
