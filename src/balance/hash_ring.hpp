#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "balance/id_list.hpp"

namespace rollcall::balance {

/// The ring of consistent hashing, as spec 11.3 has it: each candidate stands on it in several
/// places, those of `id#0`, `id#1`, …, and a key belongs to the first place that does not lie
/// before it, behind the last one to the first of all. The design's ids for this are `service:id`.
/// Where candidates share a place, the later one in the list has it.
///
/// Never changes: a change of a few candidates makes a new ring by merging their places in.
///
/// Cost: of a look-up a table and about one place more, whatever the size. Memory: 20 bytes or so a
/// place.
/// Thread safety: all const members.
class HashRing {
public:
    /// `places` of each candidate, 1 at least.
    HashRing(IdList ids, std::uint32_t places);

    /// The ring for `ids`. Cost: little for what is already on this one.
    HashRing changed(IdList ids) const;

    IdList const& ids() const noexcept { return ids_; }
    std::size_t size() const noexcept { return size_; }  ///< Places.
    std::size_t bytes() const noexcept {
        return size_ * sizeof(Place) + index_.size() * sizeof index_[0] + ids_.bytes();
    }

    /// The candidate, by its position in the list, that a key with this hash belongs to. Not on a
    /// ring without candidates.
    std::size_t find(std::uint64_t hash) const noexcept {
        return find(hash, [](std::size_t) { return true; });
    }

    /// The same as if only those were on the ring of whom `allowed(position)` is true. One is.
    template <class Allowed>
    std::size_t find(std::uint64_t hash, Allowed const& allowed) const noexcept {
        auto at = first_from(hash);
        while (true) {
            if (at == size_) at = 0;
            auto const place = places_[at].hash;
            auto found = nobody;
            for (; places_[at].hash == place; ++at) {
                auto const owner = positions_[places_[at].owner];
                if ((found == nobody || owner > found) && allowed(owner)) found = owner;
            }
            if (found != nobody) return found;
        }
    }

private:
    struct Place {
        std::uint64_t hash;
        std::uint32_t owner;  ///< A number that a candidate keeps while the list changes around it.
    };
    using Places = std::unique_ptr<Place[]>;  // NOLINT(modernize-avoid-c-arrays)

    static constexpr std::uint32_t nobody = ~std::uint32_t{0};
    static constexpr std::uint64_t behind_all = ~std::uint64_t{0};
    static constexpr int hash_bits = 63;

    struct Change;

    HashRing() = default;

    std::size_t bucket(std::uint64_t hash) const noexcept { return hash >> shift_; }
    std::size_t first_from(std::uint64_t hash) const noexcept {
        std::size_t at = index_[bucket(hash)];
        while (places_[at].hash < hash) ++at;
        return at;
    }

    void set_size(std::size_t places);
    void build();
    void sort(std::span<std::uint64_t const> hashes);
    static void sort_few(Place* begin, Place* end);
    void hash_places(std::string_view id, std::span<std::uint64_t> hashes) const;
    std::vector<Place> places_of(std::uint32_t owner, std::string_view id) const;
    Change change_to(IdList const& ids) const;
    std::vector<std::uint32_t> where(std::vector<Place> const& removed) const;
    void merge(HashRing const& from, std::vector<Place> const& added,
               std::vector<std::uint32_t> const& removed);

    IdList ids_;
    std::uint32_t places_each_ = 1;
    std::vector<std::uint32_t> owners_;     ///< By position.
    std::vector<std::uint32_t> positions_;  ///< By owner.
    // In the order of their hashes, and one behind all, where every search ends.
    Places places_;
    std::size_t size_ = 0;
    // Hashes are spread evenly, so that their first bits tell where to look: the first place that
    // is not before the bucket.
    std::vector<std::uint32_t> index_;
    int shift_ = hash_bits;
};

}  // namespace rollcall::balance
