#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "registry/live/cell.hpp"
#include "registry/live/name_index.hpp"

#include "rollcall/snapshot.hpp"

namespace rollcall::cosky {

/// Where the services are found that are loaded, by namespace. Keeps nothing watched: threads may
/// remember it for long.
///
/// Cost of a look-up: a look into a map and one into the index of the namespace; no lock, no
/// allocation. Thread safety: `instances`; of the others one at a time.
class ReadableNamespaces {
public:
    ReadableNamespaces() : all_(std::make_shared<All>()) {}

    /// None for what is not loaded.
    std::optional<Snapshot> instances(std::string_view ns, std::string_view service) const {
        auto const all = all_.get();
        auto const found = all->find(ns);
        if (found == all->end()) return std::nullopt;
        auto& one = *found->second;
        if (!one.read.load(std::memory_order_relaxed)) {
            one.read.store(true, std::memory_order_relaxed);
        }
        return one.index->instances(service);
    }

    void add(std::string const& ns, std::shared_ptr<live::NameIndex const> index) {
        auto changed = std::make_shared<All>(*all_.get());
        changed->insert_or_assign(ns, std::make_shared<One>(std::move(index)));
        all_.publish(std::move(changed));
    }

    void remove(std::string const& ns) {
        auto changed = std::make_shared<All>(*all_.get());
        changed->erase(ns);
        all_.publish(std::move(changed));
    }

    /// Since the last time that this was asked.
    bool was_read(std::string_view ns) {
        auto const all = all_.get();
        auto const found = all->find(ns);
        return found != all->end() && found->second->read.exchange(false);
    }

private:
    struct One {
        explicit One(std::shared_ptr<live::NameIndex const> of) : index(std::move(of)) {}
        std::shared_ptr<live::NameIndex const> const index;
        std::atomic<bool> read = false;
    };
    using All = std::map<std::string, std::shared_ptr<One>, std::less<>>;

    live::Cell<All> all_;
};

}  // namespace rollcall::cosky
