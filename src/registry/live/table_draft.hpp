#pragma once

#include <cstddef>
#include <string_view>

#include "registry/live/instance_table.hpp"

namespace rollcall::live {

/// Several changes to a table, which cost one copy of each chunk, and of each list that leads to
/// it, that they touch.
///
/// Thread safety: none. After an exception (`std::bad_alloc`) a draft can only be destroyed.
class TableDraft {
public:
    explicit TableDraft(InstanceTable const& base) : groups_(base.groups()), size_(base.size) {}
    TableDraft(TableDraft const&) = delete;
    TableDraft& operator=(TableDraft const&) = delete;

    std::size_t size() const noexcept { return size_; }
    /// Valid until the next change.
    Record const* find(std::string_view id) const noexcept { return groups_.find(id); }

    /// Adds `record`, or puts it in place of the one with the same id.
    void put(RecordPtr record);
    /// Whether it was there.
    bool erase(std::string_view id);
    /// Has choices heed that the vitals of this instance say `suspect` now, or no longer. Whether
    /// it was there.
    bool reconsider(std::string_view id);
    void reconsider_all() { groups_.reconsider_all(); }

    InstanceTablePtr finish() &&;

private:
    InstanceTable::Groups groups_;
    std::size_t size_;
};

}  // namespace rollcall::live
