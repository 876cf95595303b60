#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/feed/reader.hpp"
#include "model/feed/server.hpp"
#include "model/feed/truth.hpp"

namespace rollcall::test::feed {

std::string to_string(Step step);

/// How often something may still happen.
struct Allowance {
    std::uint8_t owners, operators, cuts, overflows, losses, restarts, evictions, failures;
};

/// A reader, Redis, the owners, and what is on its way between them.
class World {
public:
    explicit World(Scene const& scene);

    void list_steps(std::vector<Step>& steps) const;
    /// The next step when no fault happens and nobody joins or leaves any more.
    Step quiet_step() const;
    /// What is wrong with what follows, or nothing.
    std::string take(Step step);

    /// Nothing is on its way, and nothing is due.
    bool at_rest() const;
    /// What is wrong, unless all that lives is known, as it is, and nothing else.
    std::string incomplete() const { return truth_.incomplete(server_, reader_.feed()); }
    Time now() const { return now_; }
    std::uint64_t fingerprint() const;

private:
    enum class Phase : std::uint8_t { none, listed, looked_up, finished };
    enum class Ping : std::uint8_t { unanswered, answered, lost };

    struct Reading {
        Phase phase = Phase::none;
        Ping ping = Ping::unanswered;
        std::uint8_t asked = 0;      // Instances, one bit each.
        std::uint8_t listed = 0;     // Of them.
        std::uint8_t over = 0;       // Of known leases that had ended when it was asked.
        std::uint8_t excusable = 0;  // No reader can tell that they are not gone for good.
        bool everything = false, descriptions = false, proof = false;
        bool failed = false;
        std::uint64_t number = 0;
        std::optional<GenerationNumber> generation;
        std::array<std::uint8_t, most_instances> writes{};  // When it was asked.
        std::array<Presence, most_instances> presence{};
        std::array<Version, most_instances> version{};
        std::array<Time, most_instances> lease_end{};
    };

    bool may_ask() const;
    bool renewal_due() const;
    bool read_in_flight() const {
        return reading_.phase == Phase::listed || reading_.phase == Phase::looked_up;
    }
    std::optional<Time> next_moment() const;
    void list_owners(std::vector<Step>& steps) const;
    void list_faults(std::vector<Step>& steps) const;

    std::string perform(Step step);
    std::string perform_read(Step step);
    void perform_write(Step step);
    std::string perform_fault(Step step);
    void begin();
    void must(Step step);
    void deliver();
    std::string ask();
    Presence presence(std::size_t i) const;
    void look_up();
    void finish();
    std::string arrive();
    std::string fail();
    void cut();
    void overflow();
    void restart();
    FeedAnswer answer() const;

    Scene const* scene_;
    Allowance left_{};
    Time now_{std::chrono::seconds{1'000'000}};
    Server server_;
    Push push_;
    Reader reader_;
    Reading reading_;
    Truth truth_;
    // Instances that a message said have left while a read was on its way. Which of the two is
    // newer, and what followed, nobody can tell if Redis loses its data before they are read again.
    std::uint8_t crossed_ = 0;
    std::uint8_t reads_now_ = 0;  // At this moment.
};

}  // namespace rollcall::test::feed
