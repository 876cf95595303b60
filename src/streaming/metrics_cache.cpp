#include "streaming/metrics_cache.hpp"

#include <utility>

#include "balance/random.hpp"

namespace rollcall::streaming {

MetricsCache::MetricsCache(std::size_t most)
    : most_(most),
      published_(std::make_shared<Published>(
          Published{Index{0, Hash{live::NameHash{balance::thread_random()()}}}})) {}

void MetricsCache::add(std::vector<KnownPtr> const& known, Time now) {
    auto changed = std::make_shared<Published>(*published_.get());
    auto& index = changed->index;
    if (index.size() + known.size() > most_) {
        boost::unordered::erase_if(index,
                                   [&](auto const& entry) { return entry.second->until <= now; });
        if (index.size() + known.size() > most_) index.clear();
    }
    for (auto const& one : known) {
        if (index.size() >= most_) break;
        // Not an assignment: the key would stay a name in what goes.
        Name const name{one->service, one->id};
        index.erase(name);
        index.emplace(name, one);
    }
    published_.publish(std::move(changed));
}

}  // namespace rollcall::streaming
