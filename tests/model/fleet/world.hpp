#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/fleet/line.hpp"
#include "model/fleet/redis.hpp"
#include "model/fleet/scene.hpp"
#include "model/fleet/truth.hpp"

namespace rollcall::test::fleet {

/// What all that is simulated shares.
struct World {
    World(Scene what, bool traced)
        : scene(std::move(what)),
          members(members_of(scene)),
          redis(timeline, scene.layout),
          truth(scene, members, timeline, redis),
          tracing(traced) {
        redis.set_members(members.size());
    }
    World(World const&) = delete;
    World& operator=(World const&) = delete;

    milliseconds time() const { return std::chrono::floor<milliseconds>(timeline.now() - begun); }
    std::size_t member(std::size_t owner, std::size_t service) const {
        return owner * scene.services + service;
    }
    void note(std::string_view line) {
        if (!tracing) return;
        trace += in_seconds(time()) + "  ";
        trace += line;
        trace += '\n';
    }

    Scene const scene;
    std::vector<Member> const members;
    Timeline timeline;
    Time const begun = timeline.now();
    Redis redis;
    Truth truth;
    bool const tracing;
    std::string trace;
};

/// A process with its connections to Redis. What was asked for it when it died has no effect, so
/// that it must be kept until the end.
class Process : public Line::Owner {
public:
    Process(World& world, std::size_t number, std::uint64_t incarnation)
        : world_(world), number_(number), incarnation_(incarnation) {}
    Process(Process const&) = delete;
    Process& operator=(Process const&) = delete;
    virtual ~Process() = default;

    virtual void start() = 0;
    void die() {
        alive_ = false;
        for (auto const& line : lines_) line->end();
    }

    // Owners only.
    virtual void announce(std::size_t /*service*/) {}
    virtual void release(std::size_t /*service*/) {}
    virtual void describe(std::size_t /*service*/) {}

    void cut() {
        for (auto const& line : lines_) line->cut();
    }
    void block(milliseconds time) {
        auto const until = world_.timeline.now() + time;
        path_.blocked_until = std::max(path_.blocked_until, until);
        for (auto const& line : lines_) line->on_block();
    }
    void slow(milliseconds time, milliseconds extra) {
        path_.slow_until = std::max(path_.slow_until, world_.timeline.now() + time);
        path_.extra = extra;
    }
    void take_over_path(Process const& before) { path_ = before.path_; }

    void on_up(Line&) override {}
    void on_down(Line&) override {}
    void on_push(Line&, Push const&) override {}

protected:
    Line& add_line(Line::Unanswered unanswered = Line::Unanswered::asked_again) {
        auto const seed =
            world_.scene.seed * 1'000'003 + number_ * 1'009 + incarnation_ * 31 + lines_.size();
        lines_.push_back(
            std::make_unique<Line>(world_.timeline, world_.redis, path_, *this, unanswered, seed));
        return *lines_.back();
    }
    std::uint32_t seed() const {
        return static_cast<std::uint32_t>(world_.scene.seed * 7'919 + number_ * 101 + incarnation_ +
                                          1);
    }
    bool alive() const noexcept { return alive_; }
    Time now() const { return world_.timeline.now(); }
    std::string name() const { return 'p' + std::to_string(number_); }
    std::size_t member(std::size_t service) const { return world_.member(number_, service); }

    World& world_;
    std::size_t const number_;
    std::uint64_t const incarnation_;

private:
    Path path_;
    bool alive_ = true;
    std::vector<std::unique_ptr<Line>> lines_;
};

/// A generation as its reader saw it, and how many there were: see `EvidenceSource`.
class Generations {
public:
    std::optional<GenerationNumber> number_of(Lifetime const& lifetime) {
        if (lifetime.epoch == 0) return std::nullopt;
        if (number_ == 0 || !(lifetime == last_)) {
            last_ = lifetime;
            ++number_;
        }
        return number_;
    }

private:
    Lifetime last_;
    GenerationNumber number_ = 0;
};

}  // namespace rollcall::test::fleet
