#include "balance/candidates.hpp"

#include <algorithm>
#include <utility>

#include "balance/ring_hash.hpp"

namespace rollcall::balance {
namespace {

using std::chrono::nanoseconds;

constexpr std::size_t zone = 0;
constexpr std::size_t region = 1;
constexpr std::size_t everybody_else = 2;

bool is_in(ServiceInstance const& instance, std::string const& key, std::string const& wanted) {
    if (wanted.empty()) return false;
    auto const found = instance.metadata.find(key);
    return found != instance.metadata.end() && found->second == wanted;
}

}  // namespace

std::size_t Candidates::level_of(ServiceInstance const& instance, Locality const& locality) {
    if (is_in(instance, locality.zone_key, locality.zone)) return zone;
    if (is_in(instance, locality.region_key, locality.region)) return region;
    return everybody_else;
}

Candidates::Candidates(PlanPtr plan, std::span<Member const> members, Candidates const* before)
    : plan_(std::move(plan)), outliers_(plan_->ejects() ? &plan_->outliers() : nullptr) {
    auto const& policy = plan_->policy();
    std::array<std::vector<Candidate>, Turns::levels> lists;
    Parts known = {};
    Parts able = {};
    for (auto const& member : members) {
        auto const level = level_of(*member.instance, policy.locality);
        known[level] += member.weight;
        if (!member.able || member.weight == 0) continue;
        able[level] += member.weight;
        lists[level].push_back({member.instance, member.stats, member.weight});
        auto const appeared = member.stats->appeared_at.get();
        if (policy.slow_start.count() == 0 || !appeared) continue;
        auto const until = *appeared + policy.slow_start;
        new_until_.set(std::max(until, new_until_.get().value_or(until)));
    }
    for (std::size_t i = 0; i < Turns::levels; ++i) {
        levels_[i] = CandidateList{std::move(lists[i]), *plan_,
                                   before == nullptr ? nullptr : &before->levels_[i]};
    }
    share_out(known, able);
}

/// Each level takes what it is able to, relative to what is enough of it, of what those before it
/// leave; the last takes all of it. What nobody takes is shared by those who take something.
void Candidates::share_out(Parts const& known, Parts const& able) {
    double left = 1;
    for (std::size_t i = 0; i < Turns::levels; ++i) {
        if (able[i] == 0) continue;
        auto const enough = known[i] * plan_->policy().locality.enough;
        parts_[i] = i == everybody_else ? left : std::min(left, able[i] / enough);
        left -= parts_[i];
    }
    for (std::size_t i = 0; i < Turns::levels; ++i) {
        if (left > 0 && left < 1) parts_[i] /= 1 - left;
        if (parts_[i] > 1 - 1e-9) only_ = i;
    }
}

Filter Candidates::filter(ChooseOptions const& options, Moment& moment) const noexcept {
    Filter filter{.exclude = options.exclude};
    if (auto const until = new_until_.get()) [[unlikely]] {
        if (moment.get() < *until) {
            filter.slow_start = plan_->policy().slow_start;
        } else {
            new_until_.set(std::nullopt);  // From now on nobody looks at the clock for it.
        }
    }
    if (outliers_ != nullptr) filter.heeds_outliers = outliers_->anybody_out(moment);
    if (moment.known()) filter.now = moment.get();
    return filter;
}

std::size_t Candidates::first_level(Choosing const& choosing) const noexcept {
    if (only_ < Turns::levels) [[likely]]
        return only_;
    // Equal keys stay together.
    auto const random =
        choosing.by_key() ? Random{ring_hash(*choosing.options.key)}() : choosing.random();
    auto point = static_cast<double>(random >> 11) * 0x1p-53;
    for (std::size_t i = 0; i < everybody_else; ++i) {
        if (point < parts_[i]) return i;
        point -= parts_[i];
    }
    return everybody_else;
}

Candidate const* Candidates::choose_wanted(Choosing& choosing) const noexcept {
    auto const wanted = filter(choosing.options, choosing.moment);
    auto const level = first_level(choosing);
    auto const* const found = levels_[level].pick(choosing, level, wanted);
    return found != nullptr ? found : from_any(choosing, wanted);
}

/// Where those of the level that was chosen are not wanted: nearer ones first, and those who are
/// out rather than nobody.
Candidate const* Candidates::from_any(Choosing& choosing, Filter filter) const noexcept {
    for (;;) {
        for (std::size_t i = 0; i < Turns::levels; ++i) {
            if (auto const* const found = levels_[i].pick(choosing, i, filter)) return found;
        }
        if (!filter.heeds_outliers) return nullptr;
        filter.heeds_outliers = false;
    }
}

void Candidates::end_call(CallStats& stats, CallOutcome outcome, std::optional<nanoseconds> latency,
                          Moment& moment) const noexcept {
    stats.give_back();
    if (latency) latency = std::max(*latency, nanoseconds::zero());
    switch (outcome) {
        case CallOutcome::succeeded:
            if (latency) stats.measure(*latency, moment.get(), plan_->half_life());
            stats.succeed(moment);
            break;
        case CallOutcome::failed:
            stats.fail(latency, moment.get(), plan_->half_life());
            put_out_if_due(stats, moment.get());
            break;
        case CallOutcome::cancelled:
            break;
    }
}

void Candidates::put_out_if_due(CallStats& stats, Moment::Time now) const noexcept {
    auto const& rule = plan_->policy().ejection;
    auto const due = [&] {
        return stats.failures.load(std::memory_order_relaxed) >= rule.consecutive_failures &&
               !stats.is_out(now);
    };
    if (!plan_->ejects() || !due()) return;
    auto& outliers = plan_->outliers();
    std::lock_guard const lock{outliers.mutex};
    if (!due() || !one_more_may_go(now)) return;
    stats.put_out(rule, now);
    outliers.note(*stats.out_until.get());
}

bool Candidates::one_more_may_go(Moment::Time now) const noexcept {
    std::size_t all = 0;
    std::size_t out = 0;
    for (auto const& level : levels_) {
        all += level.candidates().size();
        out += static_cast<std::size_t>(std::ranges::count_if(
            level.candidates(), [now](auto const& one) { return one.stats->is_out(now); }));
    }
    auto const most = plan_->policy().ejection.at_most * static_cast<double>(all);
    return static_cast<double>(out + 1) <= most;
}

}  // namespace rollcall::balance
