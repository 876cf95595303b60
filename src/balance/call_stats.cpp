#include "balance/call_stats.hpp"

#include <algorithm>
#include <cmath>

namespace rollcall::balance {
namespace {

using std::chrono::nanoseconds;

constexpr auto relaxed = std::memory_order_relaxed;

// Of what is seen of failures, the newest counts so much.
constexpr float newest = 1.0F / 8;
// Below this, an old failure is none.
constexpr float negligible = 1.0F / 64;
constexpr float rise = 1.0F / 4;

float count(nanoseconds time) {
    return std::max(static_cast<float>(time.count()), 1.0F);  // 0 means none.
}

}  // namespace

void CallStats::measure(nanoseconds taken, Time now, nanoseconds half) noexcept {
    auto const sample = count(taken);
    auto const before = latency_at(Moment{now}, half);
    auto const since = now - measured_at.get().value_or(now);
    measured_at.set(now);
    if (before == 0) {
        latency.store(sample, relaxed);
    } else if (sample > before) {
        latency.store(before + ((sample - before) * rise), relaxed);
    } else {
        auto const halves = std::max(count(since) / count(half), 0.0F);
        latency.store(sample + ((before - sample) * std::exp2(-halves)), relaxed);
    }
}

void CallStats::succeed(Moment& moment) noexcept {
    if (failures.load(relaxed) != 0) failures.store(0, relaxed);
    if (times_out.load(relaxed) != 0 && !is_out(moment.get())) times_out.store(0, relaxed);
    if (failing.load(relaxed) == 0) return;
    auto const left = failing_at(moment) * (1 - newest);
    failing.store(left < negligible ? 0 : left, relaxed);
}

void CallStats::fail(std::optional<nanoseconds> taken, Time now, nanoseconds half) noexcept {
    // What is forgotten for choices is remembered here: who was let in again and fails is sooner
    // out than who never failed.
    auto const before = failing.load(relaxed);
    failing.store(before + ((1 - before) * newest), relaxed);
    failed_at.set(now);
    failures.fetch_add(1, relaxed);
    auto const usual = latency_at(Moment{now}, half);
    if (taken && usual > 0 && count(*taken) > usual) measure(*taken, now, half);
}

void CallStats::put_out(OutlierEjection const& rule, Time now) noexcept {
    auto const times = times_out.load(relaxed) + 1;
    times_out.store(times, relaxed);
    failures.store(0, relaxed);
    // Both are at most a hundred years, but not their product.
    auto const most = rule.base_time.count() == 0 ? 0 : rule.longest_time / rule.base_time;
    out_until.set(now + (static_cast<std::int64_t>(times) > most ? rule.longest_time
                                                                 : rule.base_time * times));
}

float CallStats::latency_unless_old(Time now, nanoseconds half) const noexcept {
    auto const at = measured_at.get();
    return at && now - *at < half * remembered ? latency.load(relaxed) : 0;
}

float CallStats::failing_at(Moment& moment) const noexcept {
    auto const known = failing.load(relaxed);
    if (known == 0) return 0;
    auto const at = failed_at.get();
    return at && moment.get() - *at < half_life * remembered ? known : 0;
}

}  // namespace rollcall::balance
