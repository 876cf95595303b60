#include "registry/live/chunk.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

namespace rollcall::live {
namespace {

std::ptrdiff_t offset(std::size_t at) { return static_cast<std::ptrdiff_t>(at); }

}  // namespace

Chunk::Chunk(Chunk const& other) : boost::intrusive_ref_counter<Chunk>() {
    // A copy counts a reference to each record. They lie apart, and an atomic increment waits for
    // its line before the next may begin: ask for all of them first.
    for (auto const& record : other.records_) __builtin_prefetch(record.get(), 1);
    auto const room = other.size() + 1;
    records_.reserve(room);
    instances_.reserve(room);
    weights_.reserve(room);
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
    return holds(at, id) ? records_[at].get() : nullptr;
}

Chunk::Weight Chunk::weight_of(Record const& record) noexcept {
    auto const& instance = *record.instance;
    bool const takes_traffic = instance.enabled && instance.healthy;
    return {takes_traffic ? static_cast<std::uint32_t>(std::max(instance.weight, 0)) : 0,
            record.vitals->suspect.load(std::memory_order_relaxed)};
}

bool Chunk::put(RecordPtr record) {
    auto const at = position(record->instance->instance_id);
    auto const weight = weight_of(*record);
    if (holds(at, record->instance->instance_id)) {
        weights_[at] = weight;
        instances_[at] = record->instance.get();
        records_[at] = std::move(record);
        return false;
    }
    weights_.insert(weights_.begin() + offset(at), weight);
    instances_.insert(instances_.begin() + offset(at), record->instance.get());
    records_.insert(records_.begin() + offset(at), std::move(record));
    return true;
}

void Chunk::erase(std::string_view id) {
    auto const at = offset(position(id));
    weights_.erase(weights_.begin() + at);
    instances_.erase(instances_.begin() + at);
    records_.erase(records_.begin() + at);
}

void Chunk::reconsider(std::string_view id) {
    auto const at = position(id);
    weights_[at] = weight_of(*records_[at]);
}

void Chunk::reconsider_all() {
    std::transform(records_.begin(), records_.end(), weights_.begin(),
                   [](RecordPtr const& record) { return weight_of(*record); });
}

boost::intrusive_ptr<Chunk> Chunk::split(std::size_t at) {
    boost::intrusive_ptr<Chunk> rest{new Chunk};
    rest->records_.assign(std::make_move_iterator(records_.begin() + offset(at)),
                          std::make_move_iterator(records_.end()));
    rest->instances_.assign(instances_.begin() + offset(at), instances_.end());
    rest->weights_.assign(weights_.begin() + offset(at), weights_.end());
    records_.resize(at);
    instances_.resize(at);
    weights_.resize(at);
    return rest;
}

void Chunk::append(Chunk const& behind) {
    records_.insert(records_.end(), behind.records_.begin(), behind.records_.end());
    instances_.insert(instances_.end(), behind.instances_.begin(), behind.instances_.end());
    weights_.insert(weights_.end(), behind.weights_.begin(), behind.weights_.end());
}

void Chunk::seal() {
    shares_ = {};
    for (auto const& [weight, suspect] : weights_) {
        (suspect ? shares_.suspect : shares_.trusted) += weight;
    }
    choice_ = {};
    if (shares_.any()) {
        bool const suspects = shares_.only_suspects();
        std::array<std::uint64_t, most> counted;  // NOLINT(*-member-init): as far as it is used
        std::transform(weights_.begin(), weights_.end(), counted.begin(),
                       [&](Weight const& one) { return one.suspect == suspects ? one.weight : 0; });
        choice_ = AliasTable{std::span{counted}.first(size())};
    }
    sealed_ = true;
}

}  // namespace rollcall::live
