#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "registry/live/cell.hpp"
#include "registry/live/name_hash.hpp"

#include "rollcall/streaming/metrics_provider.hpp"

namespace rollcall::streaming {

/// What is known of instances, each for some time.
///
/// Cost of reading: a cell and a look-up; no lock, no allocation. Each writing copies the index.
/// Thread safety: reading; writing by one at a time.
class MetricsCache {
public:
    using Time = std::chrono::steady_clock::time_point;

    struct Name {
        std::string_view service;
        std::string_view id;
        friend bool operator==(Name const&, Name const&) = default;
    };
    struct Known {
        std::string service;
        std::string id;
        Metrics metrics;
        Time until;  ///< True before.
    };
    using KnownPtr = std::shared_ptr<Known const>;

    explicit MetricsCache(std::size_t most);

private:
    struct Hash {
        using is_avalanching = std::true_type;  // NOLINT(readability-identifier-naming): Boost's
        std::size_t operator()(Name const& name) const noexcept {
            return of(name.service) ^ (of(name.id) * 0x9e3779b97f4a7c15);
        }
        live::NameHash of;
    };
    // The keys are the names in what is known.
    using Index = boost::unordered_flat_map<Name, KnownPtr, Hash>;
    struct Published {
        Index index;
    };

public:
    /// What was known at one moment.
    class View {
    public:
        /// Null for what is not known at `now`.
        Known const* find(Name const& name, Time now) const noexcept {
            auto const found = published_->index.find(name);
            return found == published_->index.end() || found->second->until <= now
                       ? nullptr
                       : found->second.get();
        }

    private:
        friend class MetricsCache;
        explicit View(live::Ref<Published> published) : published_(std::move(published)) {}
        live::Ref<Published> published_;
    };

    View view() const { return View{published_.get()}; }

    /// Takes the place of what was known of the same instances. What is not true any more at `now`
    /// makes room, then everything else.
    void add(std::vector<KnownPtr> const& known, Time now);

    std::size_t size() const { return published_.get()->index.size(); }

private:
    std::size_t const most_;
    live::Cell<Published> published_;
};

}  // namespace rollcall::streaming
