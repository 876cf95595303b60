#include "registry/live/name_index.hpp"

#include <boost/unordered/unordered_flat_map.hpp>
#include <functional>
#include <utility>

#include "registry/live/name_hash.hpp"

namespace rollcall::live {

struct NameIndex::Names {
    // The keys are the names in the cells.
    boost::unordered_flat_map<std::string_view, CellPtr, NameHash, std::equal_to<>> cells;

    SnapshotCell const* find(std::string_view name) const noexcept {
        auto const found = cells.find(name);
        return found == cells.end() ? nullptr : found->second.get();
    }
};

namespace {

std::optional<Snapshot> read(SnapshotCell const* cell) {
    if (cell == nullptr) return std::nullopt;
    cell->note_read();
    return cell->snapshot();
}

}  // namespace

NameIndex::NameIndex()
    : names_(std::make_shared<Names>(
          Names{decltype(Names::cells){0, NameHash{balance::thread_random()()}}})) {}

NameIndex::~NameIndex() = default;

std::optional<Snapshot> NameIndex::instances(std::string_view name) const {
    // The thread's own entry keeps the index meanwhile: reading another cell does not touch it.
    if (auto const* const names = names_.peek()) [[likely]] {
        auto const* const cell = names->find(name);
        return read(cell);
    }
    auto const names = names_.get();
    return read(names->find(name));
}

NameIndex::CellPtr NameIndex::find(std::string_view name) const {
    auto const names = names_.get();
    auto const found = names->cells.find(name);
    return found == names->cells.end() ? nullptr : found->second;
}

void NameIndex::add(std::span<CellPtr const> cells) {
    std::lock_guard const lock{writers_};
    auto changed = std::make_shared<Names>(*names_.get());
    for (auto const& cell : cells) {
        // Not an assignment: the key would stay a name in the cell that goes.
        changed->cells.erase(cell->name());
        changed->cells.emplace(cell->name(), cell);
    }
    names_.publish(std::move(changed));
}

bool NameIndex::remove(SnapshotCell const& cell) {
    std::lock_guard const lock{writers_};
    auto const names = names_.get();
    if (names->find(cell.name()) != &cell) return false;
    auto changed = std::make_shared<Names>(*names);
    changed->cells.erase(cell.name());
    names_.publish(std::move(changed));
    return true;
}

}  // namespace rollcall::live
