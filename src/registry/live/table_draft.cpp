#include "registry/live/table_draft.hpp"

#include <atomic>
#include <utility>

namespace rollcall::live {
namespace {

std::atomic<std::uint64_t> revisions = 0;

}  // namespace

void TableDraft::put(RecordPtr record) {
    if (groups_.put(std::move(record))) ++size_;
}

bool TableDraft::erase(std::string_view id) {
    if (find(id) == nullptr) return false;
    groups_.erase(id);
    --size_;
    return true;
}

bool TableDraft::reconsider(std::string_view id) {
    if (find(id) == nullptr) return false;
    groups_.reconsider(id);
    return true;
}

InstanceTablePtr TableDraft::finish() && {
    groups_.seal();
    auto const revision = revisions.fetch_add(1, std::memory_order_relaxed) + 1;
    return std::make_shared<InstanceTable>(std::move(groups_), size_, revision);
}

}  // namespace rollcall::live
