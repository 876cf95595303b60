#include "cosky/renewal_tolerance.hpp"

#include <boost/json/serialize.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <gtest/gtest.h>
#include <optional>
#include <string>

#include "cosky/own_instances.hpp"
#include "support/vectors.hpp"

namespace rollcall::cosky {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using test::rows;

/// One instance, renewed in rounds, and a reader of the design that filters by the `ttl_at` it last
/// heard. All clocks are one, in ms.
class Renewals {
public:
    /// What a registration or renewal at a moment of time gives for the renewals from then on.
    using Tolerance = std::function<seconds(std::int64_t now, bool registered)>;

    Renewals(seconds ttl, milliseconds period, Tolerance tolerance)
        : ttl_(ttl.count()), period_(period.count()), tolerance_(std::move(tolerance)) {}
    Renewals(seconds ttl, milliseconds period, seconds tolerance)
        : Renewals(ttl, period, [tolerance](std::int64_t, bool) { return tolerance; }) {}

    /// Whether the reader hides the instance at any time, when it is registered at `registered`,
    /// renewed first at `first`, and round `missed` is left out.
    bool hidden(std::int64_t registered, std::int64_t first, std::optional<int> missed) {
        expires_ = registered + ttl_ * 1'000;
        heard_ = registered / 1'000 + ttl_;
        last_.reset();
        tolerance_(registered, true);
        for (int round = 0; round < 30; ++round) {
            if (round == missed) continue;
            auto const now = first + round * period_;
            if (heard_ < now / 1'000) return true;  // As late as it gets before this renewal.
            renew(now);
        }
        return false;
    }

private:
    void renew(std::int64_t now) {
        auto const left = (expires_ - now + 500) / 1'000;  // As TTL rounds.
        expires_ = now + ttl_ * 1'000;
        auto const second = now / 1'000;
        if (!last_) last_ = second + left;
        if (second <= *last_ - tolerance_(now, false).count()) return;
        last_ = second + ttl_;
        heard_ = second + ttl_;
    }

    std::int64_t ttl_;
    std::int64_t period_;
    Tolerance tolerance_;
    std::int64_t expires_ = 0;
    std::int64_t heard_ = 0;
    std::optional<std::int64_t> last_;
};

/// Whether there is a phase in which the reader hides the instance.
bool ever_hidden(Renewals renewals, milliseconds period, bool missing_one) {
    for (std::int64_t registered = 1'000'000; registered < 1'001'000; registered += 90) {
        for (std::int64_t delay = 0; delay < period.count(); delay += period.count() / 13) {
            if (!missing_one) {
                if (renewals.hidden(registered, registered + delay, std::nullopt)) return true;
                continue;
            }
            for (int missed = 1; missed < 20; ++missed) {
                if (renewals.hidden(registered, registered + delay, missed)) return true;
            }
        }
    }
    return false;
}

TEST(RenewalTolerance, FollowsEveryVector) {
    for (auto const& value : rows("cosky/renewal", "tolerance")) {
        TRACE_ROW(value);
        auto const tolerance = renewal_tolerance(seconds{value.at("ttl").as_int64()},
                                                 milliseconds{value.at("period").as_int64()});
        EXPECT_EQ(tolerance, seconds{value.at("tolerance").as_int64()});
    }
}

TEST(RenewalTolerance, Defect1_NoReaderHidesAHealthyInstanceEvenWhenARoundIsMissed) {
    for (auto const& value : rows("cosky/renewal", "visible")) {
        TRACE_ROW(value);
        seconds const ttl{value.at("ttl").as_int64()};
        milliseconds const period{value.at("period").as_int64()};
        Renewals const ours{ttl, period, renewal_tolerance(ttl, period)};
        EXPECT_FALSE(ever_hidden(ours, period, false));
        EXPECT_FALSE(ever_hidden(ours, period, true));
        // The design's tolerance, so that it is seen that this test sees it.
        Renewals const designs{ttl, period, seconds{5}};
        EXPECT_EQ(ever_hidden(designs, period, false), value.at("design_hides").as_bool());
    }
}

/// As a registry reckons for renewals one by one.
seconds single_tolerance(OwnInstances& own, seconds ttl, std::int64_t now, bool registered) {
    NamespacedInstanceId const id{"n", "s@http#h#80"};
    OwnInstances::Time const moment{milliseconds{now}};
    if (!registered) return single_renewal_tolerance(ttl, own.pause(id, moment));
    auto const operation = own.registration(id);
    own.keep(operation, std::make_shared<ServiceInstance const>(), moment);
    return seconds{0};
}

TEST(RenewalTolerance, Defect1_NorWhoseCallerRenewsItOneByOneAtAnyPeriod) {
    seconds const ttl{60};
    for (seconds const period : {seconds{3}, seconds{10}, seconds{18}, seconds{25}, seconds{40}}) {
        SCOPED_TRACE(period.count());
        OwnInstances own;
        Renewals const ours{ttl, period, [&own, ttl](std::int64_t now, bool registered) {
                                return single_tolerance(own, ttl, now, registered);
                            }};
        EXPECT_FALSE(ever_hidden(ours, period, false));
    }
    // As if each caller had the usual period, so that it is seen that this test sees it.
    Renewals const usual{ttl, seconds{40}, single_renewal_tolerance(ttl, seconds{10})};
    EXPECT_TRUE(ever_hidden(usual, seconds{40}, false));
}

}  // namespace
}  // namespace rollcall::cosky
