#pragma once

#include <bitset>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/deadline.hpp"
#include "core/result.hpp"
#include "redis/client_core.hpp"
#include "redis/session.hpp"
#include "redis/task.hpp"
#include "registry/announce/announcer_machine.hpp"
#include "registry/announce/crew.hpp"
#include "registry/announce/drain_mark.hpp"
#include "registry/announce/epoch_keeper.hpp"
#include "registry/announce/instance_part.hpp"
#include "registry/announce/owner_watch.hpp"
#include "registry/announce/record.hpp"
#include "registry/announce/wake.hpp"
#include "registry/layout_port.hpp"

namespace rollcall::announce {

/// Carries out what an `AnnouncerMachine` decides.
///
/// Thread safety: the I/O thread only, construction aside.
/// Lifetime: `run` keeps it alive, and all that it has started ends before `run` does.
class AnnouncerLoop final : private redis::ConnectionListener {
public:
    AnnouncerLoop(std::shared_ptr<redis::ClientCore> core, std::shared_ptr<LayoutPort> port,
                  std::chrono::milliseconds heartbeat);

    /// Ends when it is cancelled.
    static Task<void> run(std::shared_ptr<AnnouncerLoop> self);

    /// Of a renewal, `instance` has its names.
    void add(std::shared_ptr<Record> const& record, ServiceInstance instance);
    void change(Record& record, ServiceInstance instance);
    void release(Record& record);
    void hurry(Record& record);

private:
    using Machine = AnnouncerMachine;
    using Key = Machine::Key;
    using Call = Machine::Call;
    using Keys = std::vector<Key>;
    using Name = std::pair<std::string, std::string>;

    struct Entry {
        std::shared_ptr<Record> record = {};
        std::optional<ServiceInstance> written = {};  // What we last wrote.
        std::bitset<instance_part_count> unsure =
            {};  // Parts of it that were written since, without an answer.
        std::bitset<instance_part_count> changed = {};  // Parts that were ever written.
        Key after = 0;                                  // The one of this id before it.
        std::uint64_t ended_drains = 0;

        void doubt(std::size_t part) {
            changed.set(part);
            unsure.set(part);
        }
    };

    /// A heartbeat for all that are registered, with what is asked beside it.
    struct Round {  // By service.
        Keys keys = {};
        std::vector<InstanceId> ids = {};
        std::vector<Machine::Beat> beats = {};
    };

    // redis::ConnectionListener
    void connected() override;
    void disconnected() override;

    void on_doubt();
    Task<void> keep_epoch();
    Task<void> find_generation();

    void begin(std::vector<Call> calls);
    void begin_waiting();
    Task<void> prepare(std::vector<Call> registrations);
    Task<void> carry_out(Call call);
    Task<Machine::Result> make(Call const& call);
    Task<Machine::Result> register_instance(Key key);
    Task<Machine::Result> update(Key key, bool again);
    Task<Machine::Result> update_parts(Key key, bool again);
    Task<Machine::Result> update_part(Key key, std::size_t part, ServiceInstance const& wanted,
                                      bool perhaps_other);
    Task<Machine::Result> deregister(Key key);
    Task<Machine::Result> written(Key key, std::string_view what, Task<Result<Written>> call);
    Machine::Result failed(Key key, std::string_view what, Failure const& failure);

    Task<void> round(Call call);
    enum class Before : std::uint8_t { judgement, registration };
    Task<bool> read_marks(Keys keys, Before before);
    void note_mark(Key key, std::optional<DrainMark> const& mark, Before before);
    void note_end_of_drain(Key key);
    std::vector<std::size_t> by_service(Keys const& keys) const;
    Task<void> beat(Round& round);
    Task<void> beat_some(Round& round, std::size_t first, std::size_t last);
    Machine::Beat beat_of(Liveness liveness, Key key);
    Machine::Beat beat_of_persistent(Key key);
    void note_renewal(Result<std::vector<Liveness>> const& found);
    Task<void> find_unlisted(Round& round);
    Task<void> look_behind_round(bool at_all);
    Task<void> look_before_round();
    struct Look;
    Task<void> look(Look& look);

    Entry* find(Key key);
    void answer(Call const& call, Machine::Result result);
    void tell(Machine::Notices const& notices);
    void tell(Key key, AnnouncementEvent event);
    void log(Record const& record, AnnouncementEvent event) const;
    void refresh(Key key);
    Deadline end_of_patience() const;

    static Machine::Time now() { return std::chrono::steady_clock::now(); }

    std::shared_ptr<redis::ClientCore> const core_;
    std::shared_ptr<LayoutPort> const port_;
    Machine machine_;
    EpochKeeper keeper_;
    DrainMarks marks_;
    OwnerWatch owners_;
    Wake wake_;
    Crew crew_;
    std::map<Key, Entry> entries_;
    std::map<Name, Key> latest_;  // Of each id.
    std::deque<Call> waiting_;
    std::size_t under_way_ = 0;
    std::uint64_t begun_rounds_ = 0;
    std::uint64_t rounds_ = 0;  // Since the connection.
    std::uint64_t doubts_ = 0;
    bool keeping_ = false;
    bool cannot_write_ = false;
    bool cannot_renew_ = false;
    bool reached_ = false;  // Redis, ever: else there is nothing to be deregistered.
    Machine::Time away_since_;
};

}  // namespace rollcall::announce
