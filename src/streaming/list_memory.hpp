#pragma once

#include <algorithm>
#include <atomic>
#include <boost/unordered/unordered_flat_map.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "balance/random.hpp"
#include "registry/live/cell.hpp"
#include "registry/live/name_hash.hpp"

namespace rollcall::streaming {

struct MemoryLimits {
    std::size_t services = 1'000;
    std::size_t lists = 8;  ///< Of a service.
    std::size_t bytes = std::size_t{256} << 20;
};

/// What was made of lists of candidates, by service; what was not used for longest makes room.
///
/// `Made` has `bytes()`, and is used by many threads at once.
/// Cost of a look-up: reads two cells and compares with the lists of the service; no lock, no
/// allocation, nothing written that others read. Thread safety: all members.
template <class Made>
class ListMemory {
public:
    using MadePtr = std::shared_ptr<Made>;

    explicit ListMemory(MemoryLimits limits)
        : limits_(limits),
          services_(std::make_shared<Services>(
              Services{Entries{0, live::NameHash{balance::thread_random()()}}})) {}

    /// `use(made)` of what was made of the list that `is_same(made)` is true of, or else is made by
    /// `make(lists, turn)`: of the lists that the service has, and how many it had before.
    template <class IsSame, class Make, class Use>
    auto with(std::string_view service, IsSame const& is_same, Make const& make, Use const& use) {
        {
            auto const services = services_.get();
            auto const entry = services->entries.find(service);
            if (entry != services->entries.end()) [[likely]] {
                auto const lists = entry->second->lists.get();
                if (auto* const known = find(*lists, is_same)) [[likely]] {
                    touch(entry->second->used);
                    touch(known->used);
                    return use(*known->made);
                }
            }
        }
        auto const made = remember(service, is_same, make);
        return use(*made);
    }

    std::size_t services() const { return services_.get()->entries.size(); }
    std::size_t bytes() const noexcept { return bytes_.load(std::memory_order_relaxed); }

private:
    struct Known {
        explicit Known(MadePtr of) : made(std::move(of)), bytes(made->bytes()) {}
        MadePtr const made;
        std::size_t const bytes;
        std::atomic<std::uint64_t> used = 0;
    };
    using Lists = std::vector<std::shared_ptr<Known>>;

    struct Entry {
        explicit Entry(std::string_view of) : service(of), lists(std::make_shared<Lists>()) {}
        std::string const service;
        live::Cell<Lists> lists;
        std::atomic<std::uint64_t> used = 0;
        std::mutex mutex;  // Guards what is below, and who may publish.
        std::uint64_t turns = 0;
        bool forgotten = false;
    };
    using EntryPtr = std::shared_ptr<Entry>;
    // The keys are the names in the entries.
    using Entries =
        boost::unordered_flat_map<std::string_view, EntryPtr, live::NameHash, std::equal_to<>>;
    struct Services {
        Entries entries;
    };

    template <class IsSame>
    static Known* find(Lists const& lists, IsSame const& is_same) {
        for (auto const& known : lists) {
            if (is_same(*known->made)) return known.get();
        }
        return nullptr;
    }

    // Time counts only while something is made, so that nothing is written otherwise.
    void touch(std::atomic<std::uint64_t>& used) const noexcept {
        auto const now = made_.load(std::memory_order_relaxed);
        if (used.load(std::memory_order_relaxed) != now) used.store(now, std::memory_order_relaxed);
    }

    template <class IsSame, class Make>
    [[gnu::noinline]] MadePtr remember(std::string_view service, IsSame const& is_same,
                                       Make const& make) {
        auto const entry = entry_of(service);
        MadePtr made;
        {
            std::lock_guard const lock{entry->mutex};
            Lists lists = *entry->lists.get();
            if (auto* const known = find(lists, is_same)) return known->made;
            std::vector<MadePtr> before;
            for (auto const& known : lists) before.push_back(known->made);
            made = make(std::as_const(before), entry->turns++);
            if (entry->forgotten) return made;
            auto const known = std::make_shared<Known>(made);
            touch(known->used);
            touch(entry->used);
            made_.fetch_add(1, std::memory_order_relaxed);  // Who is used from now on is younger.
            if (lists.size() >= limits_.lists) drop_longest_unused(lists);
            lists.push_back(known);
            bytes_.fetch_add(known->bytes, std::memory_order_relaxed);
            entry->lists.publish(std::make_shared<Lists>(std::move(lists)));
        }
        make_room(*entry);
        return made;
    }

    static auto longest_unused(auto& all, auto const& of) {
        return std::ranges::min_element(
            all, {}, [&](auto const& one) { return of(one).used.load(std::memory_order_relaxed); });
    }

    void drop_longest_unused(Lists& lists) {
        auto const oldest =
            longest_unused(lists, [](auto const& known) -> auto& { return *known; });
        bytes_.fetch_sub((*oldest)->bytes, std::memory_order_relaxed);
        lists.erase(oldest);
    }

    EntryPtr entry_of(std::string_view service) {
        std::lock_guard const lock{mutex_};
        auto const before = services_.get();
        auto const found = before->entries.find(service);
        if (found != before->entries.end()) return found->second;
        auto changed = std::make_shared<Services>(*before);
        if (changed->entries.size() >= limits_.services) forget_one(changed->entries, nullptr);
        auto const entry = std::make_shared<Entry>(service);
        touch(entry->used);
        changed->entries.emplace(entry->service, entry);
        services_.publish(std::move(changed));
        return entry;
    }

    /// Other services go first, then other lists of this one.
    void make_room(Entry& kept) {
        if (bytes() <= limits_.bytes) return;
        std::lock_guard const lock{mutex_};
        auto changed = std::make_shared<Services>(*services_.get());
        while (bytes() > limits_.bytes && forget_one(changed->entries, &kept)) {
        }
        services_.publish(std::move(changed));
        std::lock_guard const lock_lists{kept.mutex};
        Lists lists = *kept.lists.get();
        while (bytes() > limits_.bytes && lists.size() > 1) drop_longest_unused(lists);
        kept.lists.publish(std::make_shared<Lists>(std::move(lists)));
    }

    /// Of all but `kept`. Whether there was another.
    bool forget_one(Entries& entries, Entry const* kept) {
        auto oldest = entries.end();
        for (auto at = entries.begin(); at != entries.end(); ++at) {
            if (at->second.get() == kept) continue;
            if (oldest == entries.end() || at->second->used < oldest->second->used) oldest = at;
        }
        if (oldest == entries.end()) return false;
        auto const entry = oldest->second;
        entries.erase(oldest);
        std::lock_guard const lock{entry->mutex};
        entry->forgotten = true;
        for (auto const& known : *entry->lists.get()) {
            bytes_.fetch_sub(known->bytes, std::memory_order_relaxed);
        }
        return true;
    }

    MemoryLimits const limits_;
    std::atomic<std::size_t> bytes_ = 0;
    std::atomic<std::uint64_t> made_ = 0;
    live::Cell<Services> services_;
    std::mutex mutex_;  // Guards who may publish services; taken before that of an entry.
};

}  // namespace rollcall::streaming
