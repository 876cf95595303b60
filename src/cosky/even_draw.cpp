#include "cosky/even_draw.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace rollcall::cosky {
namespace {

using live::Chunk;
using live::InstanceTable;

/// Who of a table may be drawn.
class Eligible {
public:
    explicit Eligible(InstanceTable const& table) noexcept
        : weighted_(table.groups().shares().any()),
          trusted_only_(table.groups().shares().trusted > 0 &&
                        table.groups().shares().suspect > 0) {}

    bool operator()(Chunk const& chunk, std::size_t at) const noexcept {
        auto const& instance = *chunk.instances()[at];
        if (weighted_ && instance.weight <= 0) return false;
        if (!trusted_only_) return true;
        return !chunk.find(instance.instance_id)->vitals->suspect.load(std::memory_order_relaxed);
    }

private:
    bool weighted_;
    bool trusted_only_;  // As choices by weight do.
};

/// A random place in a table whose branches were all of full width: null where there is nothing, or
/// nobody eligible. So everybody has the same chance without anything being counted.
ServiceInstance const* try_place(InstanceTable const& table, Eligible const& eligible,
                                 balance::Random& random) noexcept {
    auto const& groups = table.groups().children();
    bool const one_group = groups.size() == 1;
    auto const group = balance::spread(random(), groups.size());
    auto const& chunks = groups[group.index]->children();
    bool const one_chunk = one_group && chunks.size() == 1;
    auto const chunk =
        balance::spread(group.rest, one_group ? chunks.size() : InstanceTable::Group::most);
    if (chunk.index >= chunks.size()) return nullptr;
    auto const& found = *chunks[chunk.index];
    auto const at = balance::spread(chunk.rest, one_chunk ? found.size() : Chunk::most).index;
    return at < found.size() && eligible(found, at) ? found.instances()[at] : nullptr;
}

ServiceInstance const* look_at_all(InstanceTable const& table, Eligible const& eligible,
                                   balance::Random& random) noexcept {
    ServiceInstance const* drawn = nullptr;
    std::uint64_t seen = 0;
    for (auto const& group : table.groups().children()) {
        for (auto const& chunk : group->children()) {
            for (std::size_t at = 0; at < chunk->size(); ++at) {
                if (!eligible(*chunk, at)) continue;
                // Takes the place of the one before with the share of one in all so far.
                if (balance::spread(random(), ++seen).index == 0) drawn = chunk->instances()[at];
            }
        }
    }
    return drawn;
}

}  // namespace

ServiceInstance const* draw_evenly(InstanceTable const& table, balance::Random& random) noexcept {
    constexpr int tries = 32;
    if (table.size == 0) return nullptr;
    Eligible const eligible{table};
    for (int i = 0; i < tries; ++i) {
        if (auto const* const drawn = try_place(table, eligible, random)) return drawn;
    }
    return look_at_all(table, eligible, random);
}

}  // namespace rollcall::cosky
