#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "model/fleet/world.hpp"
#include "registry/announce/announcer_machine.hpp"

namespace rollcall::test::fleet {

/// An owner with the real `AnnouncerMachine`, driven as `AnnouncerLoop` drives it.
class Announcing final : public Process {
public:
    Announcing(World& world, std::size_t number, std::uint64_t incarnation);

    void start() override;
    void announce(std::size_t service) override;
    void release(std::size_t service) override;
    void describe(std::size_t service) override;

    void on_up(Line& line) override;
    void on_push(Line& line, Push const& push) override;

private:
    using Machine = AnnouncerMachine;
    using Key = Machine::Key;
    using Call = Machine::Call;
    using Keys = std::vector<Key>;
    using Done = std::function<void()>;

    struct Entry {
        std::size_t member = 0;
        Key after = 0;
        int version = 0;
        bool stay_out = false;
        bool leaving = false;
    };
    struct Round {
        Call call;
        std::vector<Machine::Beat> beats = {};
    };
    using RoundPtr = std::shared_ptr<Round>;

    void wake();
    void turn();
    void plan();
    void track();
    void on_doubt();
    void keep_epoch();
    void assert_epoch(std::function<void(bool, std::optional<GenerationNumber>)> then);
    void find_generation(Done then);

    void begin(std::vector<Call> calls);
    using Known = std::function<void(bool)>;
    void read_marks(Keys keys, bool before_registration, Known then);
    void note_mark(Key key, Drain const& drain, bool before_registration);
    void judge_update(Call const& call);
    void carry_out(Call const& call);
    void register_instance(Call const& call);
    void register_again(std::size_t member, ServiceInstance const& instance);
    void tell_generation(std::optional<GenerationNumber> number);
    bool broken(Defect defect) const { return world_.scene.defect == defect; }
    void update(Call const& call);
    void deregister(Call const& call);
    void answer(Call const& call, Machine::Result result);

    void round(Call call);
    void find_unlisted(RoundPtr const& round, Done then);
    void end_round(RoundPtr const& round);

    void tell(Machine::Notices const& notices);
    void tell(Key key, AnnouncementEvent event);
    Entry* find(Key key);
    Entry* wanted(std::size_t member);  ///< Null if it is not announced now.
    Key latest(std::size_t member) const;

    Machine machine_;
    Line& commands_;
    Line& pushes_;
    Generations generations_;
    std::map<Key, Entry> entries_;
    std::map<std::size_t, Key> latest_;  // Of each member.
    bool woken_ = false;
    Time planned_ = Time::max();
    std::uint64_t doubts_ = 0;
    bool keeping_ = false;
    int versions_ = 0;
};

}  // namespace rollcall::test::fleet
