#include "redis/fence.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace rollcall::redis {
namespace {

/// The network that holds one back does not hold back many: each takes an attempt that logged in.
constexpr std::size_t most = 64;

}  // namespace

void Fence::remember(Ended ended) {
    if (ended.server.empty() || ended.client_id <= 0) return;
    if (ended_.size() >= most) ended_.erase(ended_.begin());
    ended_.push_back(std::move(ended));
}

std::vector<Fence::Ended> Fence::of(std::string_view server) const {
    std::vector<Ended> found;
    std::copy_if(ended_.begin(), ended_.end(), std::back_inserter(found),
                 [&](Ended const& each) { return each.server == server; });
    return found;
}

void Fence::settle(Ended const& ended) { std::erase(ended_, ended); }

}  // namespace rollcall::redis
