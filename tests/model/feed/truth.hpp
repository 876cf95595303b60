#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "model/feed/server.hpp"

namespace rollcall::test::feed {

/// What the feed told its listeners, and whether it may have.
class Truth {
public:
    void fault() { faults_ = true; }
    /// A complete read has been answered that was sent when it had been written so often.
    void read(std::size_t i, std::uint8_t writes) { told_.at(i).read = writes; }
    /// Nobody heard that somebody took it off the list when its Hash was gone before its time: its
    /// absence looks like any other.
    void excuse(std::size_t i) { told_.at(i).excused = true; }
    bool excused(std::size_t i) const { return told_.at(i).excused; }
    /// It is whole again.
    void accuse(std::size_t i) { told_.at(i).excused = false; }
    Version shows(std::size_t i) const { return told_.at(i).shown; }

    /// After an answer, which cannot tell the loss of the `excusable`, one bit each, from their
    /// end. Empty: all is well.
    std::string check(FeedOutcome const& outcome, Server const& server, ServiceFeed const& feed,
                      std::uint8_t excusable, Time now);
    /// After anything.
    std::string check(Server const& server, ServiceFeed const& feed) const;
    /// While nothing is on its way; `subscribed`: messages come.
    std::string check_rest(Server const& server, ServiceFeed const& feed, bool subscribed,
                           Time now) const;
    /// What is missing, or too much, or suspect.
    std::string incomplete(Server const& server, ServiceFeed const& feed) const;

    void add_to(Fingerprint& fingerprint, Server const& server) const;

private:
    struct Told {
        Version shown = 0;      // Of the description; 0: none.
        Version dropped = 0;    // The last one that left.
        std::uint8_t read = 0;  // How often it was written before the last complete read.
        bool excused = false;
        std::optional<Time> grace_until;
    };

    std::string added(FeedChange const& change, Told& told) const;
    static std::string updated(FeedChange const& change, Told& told);
    static std::string removed(FeedChange const& change, Told& told, Record const& record,
                               bool excusable, Time now);
    std::string suspected(FeedChange const& change, Told& told, ServiceFeed const& feed,
                          Time now) const;
    bool may_linger(std::size_t i, Server const& server, Time now) const;

    std::array<Told, most_instances> told_{};
    bool loaded_ = false;
    bool faults_ = false;
};

/// The instance as its owner describes it, and back.
std::shared_ptr<ServiceInstance const> described(std::size_t i, Version version);
Version version_of(ServiceInstance const& instance);

}  // namespace rollcall::test::feed
