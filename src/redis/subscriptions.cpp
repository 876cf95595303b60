#include "redis/subscriptions.hpp"

#include <algorithm>
#include <iterator>

namespace rollcall::redis {

std::string_view Subscriptions::Command::verb() const noexcept {
    if (subscribe) return pattern ? "PSUBSCRIBE" : "SUBSCRIBE";
    return pattern ? "PUNSUBSCRIBE" : "UNSUBSCRIBE";
}

Subscriptions::Entry* Subscriptions::find(std::string_view name, bool pattern) {
    auto& entries = entries_[pattern ? 1 : 0];
    auto const found = entries.find(name);
    return found == entries.end() ? nullptr : &found->second;
}

void Subscriptions::add(Topic const& topic, PushHandler& handler) {
    auto& entry =
        entries_[topic.is_pattern ? 1 : 0].try_emplace(topic.name, Entry{topic}).first->second;
    Slot* free = nullptr;
    for (auto& slot : entry.slots) {
        if (slot.handler == &handler) return;
        if (!slot.handler) free = &slot;
    }
    if (!free) free = &entry.slots.emplace_back();
    *free = Slot{&handler};
    ++entry.wanted_by;
    if (entry.state == State::there) {
        late_comers_.push_back(topic);
    } else {
        settle(entry);
    }
}

void Subscriptions::remove(Topic const& topic, PushHandler const& handler) {
    if (auto* const entry = find(topic.name, topic.is_pattern)) {
        drop_handler(*entry, handler);
        settle(*entry);
    }
}

void Subscriptions::remove(PushHandler const& handler) {
    for (auto& entries : entries_) {
        for (auto at = entries.begin(); at != entries.end();) {
            auto& entry = at++->second;  // Settling may erase it.
            drop_handler(entry, handler);
            settle(entry);
        }
    }
}

void Subscriptions::drop_handler(Entry& entry, PushHandler const& handler) {
    for (auto& slot : entry.slots) {
        if (slot.handler != &handler) continue;
        slot.handler = nullptr;
        --entry.wanted_by;
    }
}

bool Subscriptions::needs(Entry const& entry, bool subscribe) noexcept {
    return subscribe ? entry.wanted_by > 0 && entry.state == State::absent
                     : entry.wanted_by == 0 && entry.state == State::there;
}

void Subscriptions::settle(Entry& entry) {
    if (entry.listed || entry.state == State::asked) return;
    for (bool const subscribe : {true, false}) {
        if (needs(entry, subscribe)) return enlist(entry, subscribe);
    }
    if (entry.wanted_by > 0) return;
    auto& entries = entries_[entry.topic.is_pattern ? 1 : 0];
    entries.erase(entries.find(entry.topic.name));
}

void Subscriptions::enlist(Entry& entry, bool subscribe) {
    entry.listed = true;
    queues_[subscribe ? 1 : 0][entry.topic.is_pattern ? 1 : 0].push_back(&entry);
}

void Subscriptions::ask(Entry& entry) {
    entry.listed = false;
    if (!needs(entry, command_.subscribe)) return settle(entry);
    entry.state = State::asked;
    command_.names.push_back(entry.topic.name);
    asked_.push_back(&entry);
}

Subscriptions::Command const* Subscriptions::next() {
    if (awaits_answer()) return nullptr;
    while (!halves_.empty() && asked_.empty()) {
        auto const half = std::move(halves_.front());
        halves_.pop_front();
        command_ = half.first;
        for (auto* const entry : half.second) ask(*entry);
    }
    for (bool const subscribe : {true, false}) {
        for (bool const pattern : {true, false}) {
            auto& queue = queues_[subscribe ? 1 : 0][pattern ? 1 : 0];
            if (!asked_.empty() || queue.empty()) continue;
            command_ = Command{subscribe, pattern};
            std::size_t bytes = 0;
            while (!queue.empty() && asked_.size() < limits_.names_in_command) {
                auto& entry = *queue.front();
                bytes += entry.topic.name.size();
                if (!asked_.empty() && bytes > limits_.bytes_in_command) break;
                queue.pop_front();
                ask(entry);
            }
        }
    }
    return asked_.empty() ? nullptr : &command_;
}

void Subscriptions::answered(Entry& entry) {
    // Redis answers in the order of the names.
    asked_.erase(std::find(asked_.begin(), asked_.end(), &entry));
}

Subscriptions::Entry* Subscriptions::confirm(std::string_view name, bool pattern) {
    auto* const entry = find(name, pattern);
    if (!entry) return nullptr;
    bool const expected = entry->state == State::asked && command_.subscribe;
    entry->state = State::there;
    for (auto& slot : entry->slots) slot.greeted = false;
    if (expected) answered(*entry);
    settle(*entry);
    return entry;
}

void Subscriptions::withdraw(std::string_view name, bool pattern) {
    auto* const entry = find(name, pattern);
    if (!entry || entry->state == State::absent) return;
    bool const expected = entry->state == State::asked && !command_.subscribe;
    if (entry->state == State::asked && !expected) return;  // Of the time before it was asked for.
    entry->state = State::absent;
    for (auto& slot : entry->slots) slot.greeted = false;
    if (expected) answered(*entry);
    settle(*entry);
}

Subscriptions::Entry* Subscriptions::refuse(bool transient) {
    List const left{asked_.begin(), asked_.end()};
    asked_.clear();
    for (auto* const entry : left) {
        entry->state = command_.subscribe ? State::absent : State::there;
        entry->listed = true;
    }
    if (transient || left.size() < 2) {
        later_.insert(later_.end(), left.begin(), left.end());
        return transient || left.empty() ? nullptr : left.front();
    }
    auto const middle = left.begin() + static_cast<std::ptrdiff_t>(left.size() / 2);
    Command const same{command_.subscribe, command_.pattern};
    halves_.emplace_back(same, List{left.begin(), middle});
    halves_.emplace_back(same, List{middle, left.end()});
    return nullptr;
}

void Subscriptions::retry() {
    for (auto* const entry : std::exchange(later_, {})) {
        entry->listed = false;
        settle(*entry);
    }
}

void Subscriptions::reset() {
    for (auto& queues : queues_) {
        for (auto& queue : queues) queue.clear();
    }
    halves_.clear();
    later_.clear();
    late_comers_.clear();
    asked_.clear();
    for (auto& entries : entries_) {
        for (auto at = entries.begin(); at != entries.end();) {
            auto& entry = at++->second;  // Settling may erase it.
            entry.state = State::absent;
            entry.listed = false;
            for (auto& slot : entry.slots) slot.greeted = false;
            settle(entry);
        }
    }
}

}  // namespace rollcall::redis
