#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>

#include "rollcall/instance.hpp"

// Inside of a snapshot: what its members read in place, without a call into the library.
namespace rollcall::live {

struct Shown {
    std::size_t size = 0;
    std::uint64_t revision = 0;
    // The instances lie in parts, each an array of pointers: the first.
    ServiceInstance const* const* first = nullptr;
    ServiceInstance const* const* last = nullptr;
};

struct Held {
    void const* raw;  ///< Of a snapshot: a `Shown`.
};

struct SnapshotAccess;

}  // namespace rollcall::live

#pragma GCC visibility push(default)

namespace rollcall {

/// The instances of a service as they were at one moment.
///
/// Cost: the size of a pointer. Copying, finding the beginning and destroying take a few
/// nanoseconds, no lock and no allocation; looking for an id is a binary search.
/// Thread safety: distinct snapshots, copies included, on any thread; one snapshot, as a
/// `std::shared_ptr`: any number of readers, or one that assigns to it.
/// Lifetime: valid for as long as it is held, also when the client is gone. It keeps what it shows
/// in memory; pointers and iterators into it are valid while it, or a copy, is held.
class Snapshot {
public:
    class const_iterator;

    /// Of no service: empty, with revision 0.
    Snapshot() noexcept = default;
    Snapshot(Snapshot const& other) noexcept;
    Snapshot(Snapshot&& other) noexcept : held_(std::exchange(other.held_, nullptr)) {}
    Snapshot& operator=(Snapshot other) noexcept {
        std::swap(held_, other.held_);
        return *this;
    }
    ~Snapshot() {
        if (held_ != nullptr) release();
    }

    const_iterator begin() const noexcept;
    const_iterator end() const noexcept;

    bool empty() const noexcept { return size() == 0; }
    std::size_t size() const noexcept { return held_ == nullptr ? 0 : shown().size; }

    /// The instance with this id; null when there is none.
    ServiceInstance const* find(std::string_view instance_id) const noexcept;

    /// What is known of an instance besides its description; nothing for an id that is not there.
    ///
    /// As of now, not of when the snapshot was taken: heartbeats change it without making a new
    /// snapshot. Its members are read one by one, so that they may belong to two heartbeats.
    std::optional<InstanceState> state(std::string_view instance_id) const noexcept;

    /// Grows with every change of this service, within this process.
    std::uint64_t revision() const noexcept { return held_ == nullptr ? 0 : shown().revision; }

private:
    friend struct live::SnapshotAccess;

    explicit Snapshot(live::Held* adopted) noexcept : held_(adopted) {}
    void release() noexcept;
    live::Shown const& shown() const noexcept {
        return *static_cast<live::Shown const*>(held_->raw);
    }

    live::Held* held_ = nullptr;
};

/// Forward, over `ServiceInstance const`, ordered by instance id, byte by byte.
class Snapshot::const_iterator {
public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = ServiceInstance;
    using difference_type = std::ptrdiff_t;
    using pointer = ServiceInstance const*;
    using reference = ServiceInstance const&;

    const_iterator() noexcept = default;

    reference operator*() const noexcept { return **at_; }
    pointer operator->() const noexcept { return *at_; }
    const_iterator& operator++() noexcept {
        if (++at_ == last_) enter_next_part();
        return *this;
    }
    const_iterator operator++(int) noexcept {
        auto const before = *this;
        ++*this;
        return before;
    }
    friend bool operator==(const_iterator const& left, const_iterator const& right) noexcept {
        return left.at_ == right.at_;
    }

private:
    friend class Snapshot;

    explicit const_iterator(live::Shown const& shown) noexcept
        : at_(shown.first), last_(shown.last), shown_(&shown) {}
    void enter_next_part() noexcept;

    ServiceInstance const* const* at_ = nullptr;  ///< Null at the end.
    ServiceInstance const* const* last_ = nullptr;
    live::Shown const* shown_ = nullptr;
    std::uint32_t group_ = 0;
    std::uint32_t next_in_group_ = 1;
};

inline Snapshot::const_iterator Snapshot::begin() const noexcept {
    return held_ == nullptr ? const_iterator{} : const_iterator{shown()};
}
inline Snapshot::const_iterator Snapshot::end() const noexcept { return {}; }

}  // namespace rollcall

#pragma GCC visibility pop
