#include "registry/live/instance_table.hpp"

#include <algorithm>
#include <utility>

#include "registry/live/table_draft.hpp"

namespace rollcall::live {

InstanceTable::~InstanceTable() {
    auto const* one = prepared_.load(std::memory_order_acquire);
    while (one != nullptr) delete std::exchange(one, one->next);
}

std::vector<balance::Member> InstanceTable::members() const {
    std::vector<balance::Member> all;
    all.reserve(size);
    bool const suspects = groups_.shares().only_suspects();
    for (auto const& group : groups_.children()) {
        for (auto const& chunk : group->children()) {
            for (auto const& entry : chunk->entries()) {
                auto const& instance = *entry.record->instance;
                bool const able = entry.weight > 0 && entry.suspect == suspects;
                auto const weight = static_cast<std::uint32_t>(std::max(instance.weight, 0));
                all.push_back({&instance, &entry.record->vitals->calls(), weight, able});
            }
        }
    }
    return all;
}

balance::Candidates const& InstanceTable::make_candidates(balance::PlanPtr const& plan,
                                                          balance::Candidates const* before) const {
    std::unique_ptr<Prepared> made{new Prepared{{plan, members(), before}, nullptr}};
    made->next = prepared_.load(std::memory_order_acquire);
    do {
        // Another thread may have been faster.
        if (auto const* const known = find_candidates(*plan)) return *known;
    } while (!prepared_.compare_exchange_weak(made->next, made.get(), std::memory_order_acq_rel));
    return made.release()->candidates;
}

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
