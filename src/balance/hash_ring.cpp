#include "balance/hash_ring.hpp"

#include <algorithm>
#include <bit>
#include <iterator>
#include <numeric>
#include <string>
#include <unordered_map>
#include <utility>

#include "balance/ring_hash.hpp"

namespace rollcall::balance {

/// What another list of candidates makes of a ring.
struct HashRing::Change {
    std::vector<std::uint32_t> owners;   ///< By position in the new list.
    std::vector<std::uint32_t> added;    ///< Positions in the new list.
    std::vector<std::uint32_t> removed;  ///< Positions in the old one.
};

HashRing::HashRing(IdList ids, std::uint32_t places)
    : ids_(std::move(ids)), places_each_(std::max(places, 1U)) {
    owners_.resize(ids_.size());
    std::iota(owners_.begin(), owners_.end(), 0U);
    positions_ = owners_;
    build();
}

/// A bucket holds few places, unless somebody chose ids that crowd it.
void HashRing::sort_few(Place* begin, Place* end) {
    constexpr std::ptrdiff_t few = 32;
    if (end - begin > few) {
        std::ranges::sort(begin, end, {}, &Place::hash);
        return;
    }
    for (auto* next = begin + 1; next < end; ++next) {
        auto const place = *next;
        auto* at = next;
        for (; at > begin && at[-1].hash > place.hash; --at) *at = at[-1];
        *at = place;
    }
}

void HashRing::set_size(std::size_t places) {
    size_ = places;
    places_ = std::make_unique_for_overwrite<Place[]>(places + 1);  // NOLINT(*-avoid-c-arrays)
    places_[places] = {behind_all, 0};
}

void HashRing::build() {
    std::vector<std::uint64_t> hashes(ids_.size() * places_each_);
    for (std::size_t i = 0; i < ids_.size(); ++i) {
        hash_places(ids_[i], std::span{hashes}.subspan(i * places_each_, places_each_));
    }
    set_size(hashes.size());
    auto const bits = std::bit_width(std::max<std::size_t>(size_, 2) - 1);
    shift_ = hash_bits - static_cast<int>(bits);
    index_.assign(std::size_t{1} << bits, 0);
    sort(hashes);
}

void HashRing::hash_places(std::string_view id, std::span<std::uint64_t> hashes) const {
    std::string beginning;
    beginning.append(id).append("#");
    ring_hashes(beginning, hashes);
}

std::vector<HashRing::Place> HashRing::places_of(std::uint32_t owner, std::string_view id) const {
    std::vector<std::uint64_t> hashes(places_each_);
    hash_places(id, hashes);
    std::vector<Place> places;
    for (auto const hash : hashes) places.push_back({hash, owner});
    return places;
}

/// First into buckets, of which most then hold one place or two.
void HashRing::sort(std::span<std::uint64_t const> hashes) {
    for (auto const hash : hashes) ++index_[bucket(hash)];
    std::partial_sum(index_.begin(), index_.end(), index_.begin());
    for (std::uint32_t i = 0, owner = 0; i < hashes.size(); ++owner) {
        for (auto const end = i + places_each_; i < end; ++i) {
            places_[--index_[bucket(hashes[i])]] = {hashes[i], owner};
        }
    }
    for (std::size_t i = 0; i < index_.size(); ++i) {
        auto* const begin = places_.get() + index_[i];
        auto* const end = places_.get() + (i + 1 < index_.size() ? index_[i + 1] : size_);
        if (end - begin > 1) sort_few(begin, end);
    }
}

HashRing HashRing::changed(IdList ids) const {
    auto change = change_to(ids);
    HashRing made;
    made.places_each_ = places_each_;
    made.ids_ = std::move(ids);
    made.owners_ = std::move(change.owners);
    made.positions_.resize(positions_.size() + change.added.size());
    for (std::uint32_t i = 0; i < made.owners_.size(); ++i) made.positions_[made.owners_[i]] = i;

    auto const places = made.ids_.size() * places_each_;
    bool const fits = places <= 2 * index_.size() && 8 * places > index_.size();
    bool const much = 8 * (change.added.size() + change.removed.size()) > made.ids_.size();
    bool const sparse = made.positions_.size() > 2 * made.ids_.size();
    if (!fits || much || sparse) return HashRing{std::move(made.ids_), places_each_};

    std::vector<Place> added;
    for (auto const i : change.added) {
        std::ranges::copy(places_of(made.owners_[i], made.ids_[i]), std::back_inserter(added));
    }
    std::ranges::sort(added, {}, &Place::hash);
    std::vector<Place> removed;
    for (auto const i : change.removed) {
        std::ranges::copy(places_of(owners_[i], ids_[i]), std::back_inserter(removed));
    }
    made.merge(*this, added, where(removed));
    return made;
}

HashRing::Change HashRing::change_to(IdList const& ids) const {
    auto const old_size = ids_.size();
    auto const size = ids.size();
    std::size_t front = 0;
    while (front < std::min(old_size, size) && ids_[front] == ids[front]) ++front;
    std::size_t back = 0;
    while (back < std::min(old_size, size) - front &&
           ids_[old_size - 1 - back] == ids[size - 1 - back]) {
        ++back;
    }
    // Between them what is alike is looked for; of equal ids each has one counterpart.
    std::unordered_multimap<std::string_view, std::uint32_t> left;
    for (auto i = front; i < old_size - back; ++i) {
        left.emplace(ids_[i], static_cast<std::uint32_t>(i));
    }
    Change change;
    change.owners.assign(owners_.begin(), owners_.begin() + static_cast<std::ptrdiff_t>(front));
    auto next_owner = static_cast<std::uint32_t>(positions_.size());
    for (auto i = front; i < size - back; ++i) {
        auto const found = left.find(ids[i]);
        if (found == left.end()) {
            change.added.push_back(static_cast<std::uint32_t>(i));
            change.owners.push_back(next_owner++);
        } else {
            change.owners.push_back(owners_[found->second]);
            left.erase(found);
        }
    }
    change.owners.insert(change.owners.end(), owners_.end() - static_cast<std::ptrdiff_t>(back),
                         owners_.end());
    for (auto const& [id, position] : left) change.removed.push_back(position);
    return change;
}

/// In order. They are there.
std::vector<std::uint32_t> HashRing::where(std::vector<Place> const& removed) const {
    std::vector<std::uint32_t> found;
    found.reserve(removed.size());
    for (auto const& place : removed) {
        auto at = first_from(place.hash);
        while (places_[at].owner != place.owner) ++at;
        found.push_back(static_cast<std::uint32_t>(at));
    }
    std::ranges::sort(found);
    return found;
}

/// `added` is in order. Copies what lies between as it is, index included.
void HashRing::merge(HashRing const& from, std::vector<Place> const& added,
                     std::vector<std::uint32_t> const& removed) {
    set_size(from.size_ + added.size() - removed.size());
    shift_ = from.shift_;
    index_.resize(from.index_.size());
    std::size_t read = 0;
    std::size_t written = 0;
    std::size_t indexed = 0;
    auto const copy_to = [&](std::size_t until, std::uint64_t hash) {
        // Up to the bucket of `hash`, its own beginning included, nothing more changes.
        auto const end = hash == behind_all ? index_.size() : bucket(hash) + 1;
        auto const off = static_cast<std::uint32_t>(written - read);
        for (; indexed < end; ++indexed) index_[indexed] = from.index_[indexed] + off;
        std::copy(from.places_.get() + read, from.places_.get() + until, places_.get() + written);
        written += until - read;
        read = until;
    };
    auto add = added.begin();
    auto remove = removed.begin();
    while (add != added.end() || remove != removed.end()) {
        auto const next_added = add == added.end() ? behind_all : add->hash;
        if (remove != removed.end() && from.places_[*remove].hash <= next_added) {
            copy_to(*remove, from.places_[*remove].hash);
            ++read;
            ++remove;
        } else {
            copy_to(std::max(read, from.first_from(next_added)), next_added);
            places_[written++] = *add++;
        }
    }
    copy_to(from.size_, behind_all);
}

}  // namespace rollcall::balance
