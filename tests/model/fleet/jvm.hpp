#pragma once

#include <set>

#include "model/fleet/world.hpp"

namespace rollcall::test::fleet {

/// An owner that behaves as the recorded programs do. The Java module registers once, renews for
/// ever and cleans up, by a clock of its own, and never registers again. CoSky's registers again
/// what it cannot renew.
class Jvm final : public Process {
public:
    Jvm(World& world, std::size_t number, std::uint64_t incarnation);

    void start() override;
    void announce(std::size_t service) override;
    void release(std::size_t service) override;

private:
    bool is_cosky() const { return world_.scene.layout == Layout::cosky; }
    milliseconds skew() const { return world_.scene.skews[number_]; }
    void register_by(std::size_t member);
    void beat();
    void beat(std::size_t member);
    void clean_up();

    Line& commands_;
    milliseconds const period_;
    std::set<std::size_t> mine_;
};

}  // namespace rollcall::test::fleet
