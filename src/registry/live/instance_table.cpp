#include "registry/live/instance_table.hpp"

#include <utility>

#include "registry/live/table_draft.hpp"

namespace rollcall::live {

InstanceTablePtr InstanceTable::put(RecordPtr record) const {
    TableDraft draft{*this};
    draft.put(std::move(record));
    return std::move(draft).finish();
}

InstanceTablePtr InstanceTable::erase(std::string_view id) const {
    if (find(id) == nullptr) return shared_from_this();
    TableDraft draft{*this};
    draft.erase(id);
    return std::move(draft).finish();
}

}  // namespace rollcall::live
