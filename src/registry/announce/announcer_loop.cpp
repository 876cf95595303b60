#include "registry/announce/announcer_loop.hpp"

#include <boost/asio/this_coro.hpp>
#include <exception>
#include <random>
#include <string_view>

#include "registry/script_calls.hpp"

namespace rollcall::announce {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t calls_at_once = 256;
constexpr milliseconds before_next_try{200};
/// How long Redis may be away before nobody who ends waits for it.
constexpr milliseconds patience{300};

AnnouncerTimes times_of(LayoutPort& port, milliseconds heartbeat) {
    AnnouncerTimes times;
    times.period = heartbeat;
    times.lease = port.live().lease();
    times.deregisters_drained = !port.capabilities().enabled_flag;
    times.seed = std::random_device{}();
    return times;
}

/// That there is no connection has been told, and that all ends is wanted.
bool is_worth_telling(Failure const& failure) {
    auto const code = failure.code();
    return code != errc::not_connected && code != errc::cancelled && code != errc::closed;
}

}  // namespace

AnnouncerLoop::AnnouncerLoop(std::shared_ptr<redis::ClientCore> core,
                             std::shared_ptr<LayoutPort> port, milliseconds heartbeat)
    : core_(std::move(core)),
      port_(std::move(port)),
      machine_(times_of(*port_, heartbeat), now()),
      keeper_(*core_, port_->live().epoch_key(), [this] { on_doubt(); }),
      marks_(*core_, port_->live()),
      wake_(core_->io()),
      crew_(core_->io(), core_->log()),
      away_since_(now()) {}

Task<void> AnnouncerLoop::run(std::shared_ptr<AnnouncerLoop> self) {
    co_await asio::this_coro::throw_if_cancelled(false);
    self->core_->session().attach(*self);
    self->reached_ = self->core_->session().connected();
    self->keeper_.start();
    self->on_doubt();
    for (;;) {
        self->begin(self->machine_.next_calls(now()));
        co_await self->wake_.wait_until(self->machine_.wake_at());
        auto const state = co_await asio::this_coro::cancellation_state;
        if (state.cancelled() != asio::cancellation_type::none) break;
    }
    self->keeper_.stop();
    self->core_->session().detach(*self);
    co_await self->crew_.dismiss();
}

void AnnouncerLoop::add(std::shared_ptr<Record> const& record, ServiceInstance instance) {
    Name const name{record->id.service, record->id.id};
    auto& latest = latest_[name];
    record->key = record->adopted ? machine_.adopt(std::move(instance), now(), latest)
                                  : machine_.add(std::move(instance), record->stay_out, latest);
    auto& entry = entries_[record->key];
    entry.record = record;
    entry.after = latest;
    latest = record->key;
    wake_.notify();
}

void AnnouncerLoop::change(Record& record, ServiceInstance instance) {
    machine_.change(record.key, std::move(instance));
    record.note_change_taken();
    refresh(record.key);
    wake_.notify();
}

void AnnouncerLoop::release(Record& record) {
    if (!core_->session().connected()) record.wait_no_longer(end_of_patience());
    tell(machine_.release(record.key));
    refresh(record.key);
    wake_.notify();
}

void AnnouncerLoop::hurry(Record& record) {
    machine_.hurry(record.key);
    wake_.notify();
}

Deadline AnnouncerLoop::end_of_patience() const {
    return reached_ ? away_since_ + patience : now();
}

void AnnouncerLoop::connected() {
    reached_ = true;
    rounds_ = 0;
    for (auto const& [key, entry] : entries_) entry.record->wait_no_longer(Deadline::max());
    machine_.connected(now());
    on_doubt();
    wake_.notify();
}

void AnnouncerLoop::disconnected() {
    away_since_ = now();
    for (auto const& [key, entry] : entries_) entry.record->wait_no_longer(end_of_patience());
}

void AnnouncerLoop::on_doubt() {
    ++doubts_;
    if (!std::exchange(keeping_, true)) crew_.start(keep_epoch());
}

Task<void> AnnouncerLoop::keep_epoch() {
    for (;;) {
        auto const seen = doubts_;
        auto const found = co_await keeper_.assert_epoch(core_->deadline());
        if (found) {
            machine_.generation(*found, now());
            wake_.notify();
        }
        if (seen != doubts_) continue;
        // The next connection is the next doubt.
        if (found || !core_->session().connected()) break;
        co_await pause(before_next_try);
    }
    keeping_ = false;
}

/// Before the machine hears that something is gone, and before anything is registered because of
/// that.
Task<void> AnnouncerLoop::find_generation() {
    auto const found = co_await keeper_.assert_epoch(core_->deadline());
    machine_.generation(found ? *found : std::nullopt, now());
    if (!found) on_doubt();
}

void AnnouncerLoop::begin(std::vector<Call> calls) {
    std::vector<Call> registrations;
    for (auto& call : calls) {
        switch (call.kind) {
            case Call::Kind::heartbeat:
                crew_.start(round(std::move(call)));
                break;
            case Call::Kind::register_instance:
                registrations.push_back(std::move(call));
                break;
            case Call::Kind::update:
            case Call::Kind::deregister:
                waiting_.push_back(std::move(call));
                break;
        }
    }
    if (!registrations.empty()) crew_.start(prepare(std::move(registrations)));
    begin_waiting();
}

void AnnouncerLoop::begin_waiting() {
    while (!waiting_.empty() && under_way_ < calls_at_once) {
        auto call = std::move(waiting_.front());
        waiting_.pop_front();
        ++under_way_;
        crew_.start(carry_out(std::move(call)));
    }
}

/// What an operator wants to get no traffic is not shown first.
Task<void> AnnouncerLoop::prepare(std::vector<Call> registrations) {
    Keys keys;
    keys.reserve(registrations.size());
    for (auto const& call : registrations) keys.push_back(call.keys.front());
    co_await read_marks(std::move(keys), Before::registration);
    for (auto& call : registrations) waiting_.push_back(std::move(call));
    begin_waiting();
}

Task<void> AnnouncerLoop::carry_out(Call call) {
    auto result = Machine::Result::refused;
    try {
        result = co_await make(call);
    } catch (std::exception const& error) {
        auto const code = is_cancellation(error) ? errc::cancelled : errc::unexpected_reply;
        failed(call.keys.front(), "announce", Failure{code, error.what()});
    }
    --under_way_;
    answer(call, result);
    begin_waiting();
}

Task<AnnouncerMachine::Result> AnnouncerLoop::make(Call const& call) {
    auto const key = call.keys.front();
    if (call.kind == Call::Kind::deregister) return deregister(key);
    if (call.kind == Call::Kind::update) return update(key, call.again);
    return register_instance(key);
}

Task<AnnouncerMachine::Result> AnnouncerLoop::register_instance(Key key) {
    auto const instance = machine_.to_store(key);
    if (!instance) co_return Machine::Result::withdrawn;
    owners_.forget(key);
    auto const drains = find(key)->ended_drains;
    auto call = port_->register_instance(*instance, core_->deadline());
    auto const result = co_await written(key, "register", std::move(call));
    // A registration creates what it does not find.
    if (result != Machine::Result::done && result != Machine::Result::gone) co_return result;
    if (auto* const entry = find(key)) {
        entry->written = *instance;
        entry->unsure.reset();
        if (entry->ended_drains != drains) entry->doubt(enabled_part);
    }
    owners_.forget(key);
    co_return Machine::Result::done;
}

Task<AnnouncerMachine::Result> AnnouncerLoop::update(Key key, bool again) {
    auto const result = co_await update_parts(key, again);
    if (result != Machine::Result::gone) co_return result;
    Keys keys{key};
    bool const known = co_await read_marks(std::move(keys), Before::judgement);
    if (!known) co_return Machine::Result::transient;
    co_await find_generation();
    co_return result;
}

/// Each part on its own, as an operator would: what the others changed of the rest stays. What is
/// written is not written again when the next part fails.
Task<AnnouncerMachine::Result> AnnouncerLoop::update_parts(Key key, bool again) {
    auto const wanted = machine_.to_store(key);
    auto const* const entry = find(key);
    if (!wanted || !entry || !entry->written) co_return Machine::Result::withdrawn;
    auto const perhaps_other = again ? entry->changed : entry->unsure;
    for (std::size_t part = 0; part < instance_parts.size(); ++part) {
        auto const result = co_await update_part(key, part, *wanted, perhaps_other[part]);
        if (result != Machine::Result::done) co_return result;
    }
    co_return Machine::Result::done;
}

Task<AnnouncerMachine::Result> AnnouncerLoop::update_part(Key key, std::size_t part,
                                                          ServiceInstance const& wanted,
                                                          bool perhaps_other) {
    auto const& that = instance_parts[part];
    auto* const entry = find(key);
    if (!entry || !entry->written || !that.is_stored(port_->capabilities()) ||
        (that.is_same(*entry->written, wanted) && !perhaps_other)) {
        co_return Machine::Result::done;
    }
    auto const id = entry->record->id;
    // It may be carried out without our hearing of it, also when something else is wanted by then.
    entry->doubt(part);
    auto const drains = entry->ended_drains;
    auto call = that.write(*port_, id, wanted, core_->deadline());
    auto const result = co_await written(key, that.verb, std::move(call));
    if (result != Machine::Result::done) co_return result;
    if (auto* const still = find(key)) {
        that.copy(wanted, *still->written);
        if (still->ended_drains == drains) still->unsure.reset(part);
    }
    co_return Machine::Result::done;
}

Task<AnnouncerMachine::Result> AnnouncerLoop::deregister(Key key) {
    auto const* const entry = find(key);
    if (!entry) co_return Machine::Result::done;
    auto const id = entry->record->id;
    owners_.forget(key);
    auto const done = co_await port_->deregister_instance(id, core_->deadline());
    if (!done.has_error()) co_return Machine::Result::done;
    auto const result = failed(key, "deregister", done.error());
    if (auto const* const still = find(key)) {
        still->record->note_failure(done.error(), result == Machine::Result::refused);
    }
    co_return result;
}

Task<AnnouncerMachine::Result> AnnouncerLoop::written(Key key, std::string_view what,
                                                      Task<Result<Written>> call) {
    auto const result = co_await std::move(call);
    if (result.has_error()) co_return failed(key, what, result.error());
    if (std::exchange(cannot_write_, false)) {
        core_->log().write_state(LogLevel::info, "announcing", "working",
                                 "writing again what is announced");
    }
    co_return result->existed ? Machine::Result::done : Machine::Result::gone;
}

AnnouncerMachine::Result AnnouncerLoop::failed(Key key, std::string_view what,
                                               Failure const& failure) {
    bool const transient = is_unanswered(failure) || is_transient(failure.code());
    if (auto const* const entry = find(key)) {
        auto const& id = entry->record->id;
        auto const text = subject("cannot " + std::string{what}, id.service, id.id) +
                          ", will keep trying: " + failure.detail();
        if (!transient) {
            core_->log().write(LogLevel::warning, "announce", text);
        } else if (is_worth_telling(failure)) {
            cannot_write_ = true;
            core_->log().write_state(LogLevel::warning, "announcing", "failing", text);
        }
    }
    return transient ? Machine::Result::transient : Machine::Result::refused;
}

AnnouncerLoop::Entry* AnnouncerLoop::find(Key key) {
    auto const found = entries_.find(key);
    return found == entries_.end() ? nullptr : &found->second;
}

void AnnouncerLoop::answer(Call const& call, Machine::Result result) {
    tell(machine_.answer_call(call.number, result, now()));
    refresh(call.keys.front());
    wake_.notify();
}

void AnnouncerLoop::tell(Machine::Notices const& notices) {
    for (auto const& notice : notices) {
        // What a hook asks about must not be older than what it is told.
        if (notice.event != AnnouncementEvent::released) refresh(notice.key);
        tell(notice.key, notice.event);
    }
}

void AnnouncerLoop::tell(Key key, AnnouncementEvent event) {
    auto const* const entry = find(key);
    if (!entry) return;
    auto const record = entry->record;
    log(*record, event);
    if (record->has_hook) {
        core_->callbacks()->post([record, event] { record->call_hook(event); });
    }
    if (event != AnnouncementEvent::released) return;
    Name const name{record->id.service, record->id.id};
    if (auto const latest = latest_.find(name); latest != latest_.end() && latest->second == key) {
        // One that never began may be gone before the one that it waited for.
        if (entries_.contains(entry->after)) {
            latest->second = entry->after;
        } else {
            latest_.erase(latest);
        }
    }
    owners_.remove(key);
    entries_.erase(key);
    record->note_released();
}

void AnnouncerLoop::log(Record const& record, AnnouncementEvent event) const {
    // Each of these kinds comes once a minute: who has a hook is told of all.
    if (record.adopted && record.has_hook) return;
    struct Line {
        std::string_view kind;
        std::string_view verb;
    };
    Line line;
    switch (event) {
        case AnnouncementEvent::lost:
            line = {"announced lost", record.adopted ? "Redis does not have" : "Redis lost"};
            break;
        case AnnouncementEvent::removed_by_other:
            line = {"announced removed", "somebody deregistered"};
            break;
        case AnnouncementEvent::conflict:
            line = {"announced twice", "another process keeps alive, too,"};
            break;
        case AnnouncementEvent::drained:
            line = {"announced drained", "an operator drains"};
            break;
        case AnnouncementEvent::persistent:
            line = {"renewed persistent", "there is no lease to be renewed of"};
            break;
        default:
            return;
    }
    auto const& id = record.id;
    core_->log().write(LogLevel::warning, line.kind, subject(line.verb, id.service, id.id));
}

void AnnouncerLoop::refresh(Key key) {
    if (auto const* const entry = find(key)) {
        entry->record->note_state(machine_.registered(key), machine_.settled(key));
    }
}

}  // namespace rollcall::announce
