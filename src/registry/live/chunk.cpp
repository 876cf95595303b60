#include "registry/live/chunk.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

namespace rollcall::live {
namespace {

std::ptrdiff_t offset(std::size_t at) { return static_cast<std::ptrdiff_t>(at); }

}  // namespace

Chunk::Chunk(Chunk const& other) : boost::intrusive_ref_counter<Chunk>(other) {
    // A copy counts a reference to each record. They lie apart, and an atomic increment waits for
    // its line before the next may begin: ask for all of them first.
    for (auto const& entry : other.entries_) __builtin_prefetch(entry.record.get(), 1);
    auto const room = other.size() + 1;
    entries_.reserve(room);
    instances_.reserve(room);
    append(other);
}

std::size_t Chunk::position(std::string_view id) const noexcept {
    auto const found =
        std::lower_bound(instances_.begin(), instances_.end(), id,
                         [](ServiceInstance const* instance, std::string_view sought) {
                             return instance->instance_id < sought;
                         });
    return static_cast<std::size_t>(found - instances_.begin());
}

Record const* Chunk::find(std::string_view id) const noexcept {
    auto const at = position(id);
    return holds(at, id) ? entries_[at].record.get() : nullptr;
}

void Chunk::Entry::weigh() noexcept {
    auto const& instance = *record->instance;
    bool const takes_traffic = instance.enabled && instance.healthy && instance.weight > 0;
    weight = takes_traffic ? static_cast<std::uint32_t>(instance.weight) : 0;
    suspect = record->vitals->suspect.load(std::memory_order_relaxed);
}

bool Chunk::put(RecordPtr record) {
    auto const* const instance = record->instance.get();
    auto const at = position(instance->instance_id);
    bool const there = holds(at, instance->instance_id);
    Entry entry{std::move(record)};
    if (there) {
        instances_[at] = instance;
        entries_[at] = std::move(entry);
    } else {
        instances_.insert(instances_.begin() + offset(at), instance);
        entries_.insert(entries_.begin() + offset(at), std::move(entry));
    }
    return !there;
}

void Chunk::erase(std::string_view id) {
    auto const at = offset(position(id));
    instances_.erase(instances_.begin() + at);
    entries_.erase(entries_.begin() + at);
}

void Chunk::reconsider(std::string_view id) { entries_[position(id)].weigh(); }

void Chunk::reconsider_all() {
    for (auto& entry : entries_) entry.weigh();
}

boost::intrusive_ptr<Chunk> Chunk::split(std::size_t at) {
    boost::intrusive_ptr<Chunk> rest{new Chunk};
    auto const entries = entries_.begin() + offset(at);
    auto const instances = instances_.begin() + offset(at);
    rest->entries_.assign(std::make_move_iterator(entries),
                          std::make_move_iterator(entries_.end()));
    rest->instances_.assign(instances, instances_.end());
    entries_.erase(entries, entries_.end());
    instances_.erase(instances, instances_.end());
    return rest;
}

void Chunk::append(Chunk const& behind) {
    entries_.insert(entries_.end(), behind.entries_.begin(), behind.entries_.end());
    instances_.insert(instances_.end(), behind.instances_.begin(), behind.instances_.end());
}

void Chunk::seal() {
    shares_ = {};
    for (auto const& entry : entries_) {
        (entry.suspect ? shares_.suspect : shares_.trusted) += entry.weight;
    }
    choice_ = {};
    if (shares_.any()) {
        bool const suspects = shares_.only_suspects();
        std::array<std::uint64_t, most> weights;  // NOLINT(*-member-init): as far as it is used
        std::transform(entries_.begin(), entries_.end(), weights.begin(), [&](Entry const& entry) {
            return entry.suspect == suspects ? entry.weight : 0;
        });
        choice_ = balance::AliasTable{std::span{weights}.first(size())};
    }
    sealed_ = true;
}

}  // namespace rollcall::live
