#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/golden.hpp"
#include "support/redis_server.hpp"

namespace rollcall::test {

/// Recorded commands with other names, values and times in place of the recorded ones.
class Filling {
public:
    /// Wherever `from` stands. What is filled in is not looked at again.
    Filling& text(std::string from, std::string to);
    /// Only where `from` is a whole argument.
    Filling& argument(std::string from, std::string to);

    std::vector<std::string> of(std::vector<std::string> const& words) const;

private:
    std::string filled(std::string_view text) const;

    std::vector<std::pair<std::string, std::string>> texts_;
    std::map<std::string, std::string> arguments_;
};

/// What a peer is given. Names and values without characters that JSON would escape; at least one
/// pair of metadata.
struct PeerInstance {
    std::string service = {};
    std::string id = {};
    std::string host = {};
    int port = 0;
    int weight = 1;  ///< CoSky: always 1, as it is recorded.
    std::vector<std::pair<std::string, std::string>> metadata = {};
};

/// Plays the calls of a recorded program, command for command, on a bare blocking connection. The
/// recordings keep no scripts: their places are taken by stand-ins, written from what the
/// specifications say that they do, and shown against the recordings by tests/recorded.
///
/// Errors: `std::runtime_error` when the connection breaks or nothing comes in time.
class RecordedPeer {
public:
    struct Options {
        std::string socket = {};
        std::string space = {};  ///< Prefix, or namespace.
        std::chrono::seconds lease{90};
        std::chrono::milliseconds limit{1'000};  ///< Of each command.
    };
    enum class Renewal { alive, registered_again, gone };

    explicit RecordedPeer(Options options);
    virtual ~RecordedPeer() = default;
    RecordedPeer(RecordedPeer const&) = delete;
    RecordedPeer& operator=(RecordedPeer const&) = delete;

    virtual void enter(PeerInstance const& instance) = 0;
    virtual Renewal renew(PeerInstance const& instance) = 0;
    virtual void describe(PeerInstance const& instance) = 0;  ///< Says its metadata again.
    virtual void leave(PeerInstance const& instance) = 0;
    /// What the program does about the expired instances of others.
    virtual void clean() = 0;

    /// A question of the test's own.
    RedisClient::Reply ask(std::vector<std::string> const& words) { return redis_.must(words); }

protected:
    using Commands = std::vector<std::vector<std::string>>;

    /// What the program sent in a step; a script once, however often it was sent.
    static Commands commands(golden::Recording const& recording, std::string_view step);

    RedisClient::Reply send(std::vector<std::string> const& words);
    Options const& options() const noexcept { return options_; }

private:
    /// How the program makes a script known that Redis does not know.
    virtual RedisClient::Reply send_script(std::vector<std::string> words,
                                           std::string const& text) = 0;

    Options const options_;
    RedisClient redis_;
    std::map<std::string const*, std::string> shas_;
};

/// The Java module (streaming) or CoSky.
std::unique_ptr<RecordedPeer> make_recorded_peer(std::string_view layout,
                                                 RecordedPeer::Options options);

/// The stand-in for a script that was recorded by its SHA-1; null when there is none.
std::string const* find_stand_in(std::string const& recorded_sha);

}  // namespace rollcall::test
