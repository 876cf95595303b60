#include "rollcall/streaming/client_selector.hpp"

#include <gtest/gtest.h>
#include <string>
#include <type_traits>
#include <vector>

#include "unit/invoke/fakes.hpp"

#include "rollcall/error.hpp"
#include "rollcall/streaming/naming_service.hpp"

namespace rollcall::streaming {
namespace {

using test::FakeBalancer;
using test::FakeSource;
using test::instance_called;
using Question = FakeSource::Question;

Filters const metadata{{"region", "eu"}};
Filters const metrics{{"cpu:<", "80"}};

/// One instance, for a question that is answered; `found` names the question.
struct Answered {
    bool both = false;
    bool by_metadata = false;
    bool by_metrics = false;
    bool all = false;

    FakeSource source() const {
        return FakeSource{[*this](Filters const& first, Filters const& second) -> Instances {
            bool const is_answered = !first.empty() && !second.empty() ? both
                                     : !first.empty()                  ? by_metadata
                                     : !second.empty()                 ? by_metrics
                                                                       : all;
            if (!is_answered) return {};
            return {instance_called((first.empty() ? "" : "metadata ") +
                                    std::string{second.empty() ? "" : "metrics"})};
        }};
    }
};

std::string selected(FakeSource& source, ClientSelectorConfig const& config = {},
                     Filters const& by_metadata = metadata, Filters const& by_metrics = metrics) {
    FakeBalancer balancer;
    ClientSelector const selector{source, config};
    auto const instance = selector.select("orders", by_metadata, by_metrics, balancer);
    return instance ? instance->instance_id : "none";
}

TEST(ClientSelector, AsksForLessAndLessUntilSomethingIsFound) {
    auto source = Answered{.all = true}.source();
    EXPECT_EQ(selected(source), "");
    EXPECT_EQ(source.questions(),
              (std::vector<Question>{{metadata, metrics}, {metadata, {}}, {{}, metrics}, {}}));
}

TEST(ClientSelector, TakesTheFirstListThatIsNotEmpty) {
    auto all = Answered{true, true, true, true}.source();
    EXPECT_EQ(selected(all), "metadata metrics");
    EXPECT_EQ(all.questions().size(), 1u);
    auto without_both = Answered{false, true, true, true}.source();
    EXPECT_EQ(selected(without_both), "metadata ");
    auto metrics_only = Answered{false, false, true, true}.source();
    EXPECT_EQ(selected(metrics_only), "metrics");
    auto nothing = Answered{}.source();
    EXPECT_EQ(selected(nothing), "none");
    EXPECT_EQ(nothing.questions().size(), 4u);
}

TEST(ClientSelector, EachFallbackCanBeSwitchedOff) {
    ClientSelectorConfig config;
    config.fallback_drop_metrics_filters_first = false;
    auto first = Answered{false, true, true, true}.source();
    EXPECT_EQ(selected(first, config), "metrics");

    config = {};
    config.fallback_drop_metadata_filters_next = false;
    auto next = Answered{false, false, true, true}.source();
    EXPECT_EQ(selected(next, config), "");

    config = {};
    config.fallback_use_all_healthy_last = false;
    auto last = Answered{false, false, false, true}.source();
    EXPECT_EQ(selected(last, config), "none");
    EXPECT_EQ(last.questions().size(), 3u);

    config = {};
    config.enable_fallback = false;
    auto none = Answered{false, true, true, true}.source();
    EXPECT_EQ(selected(none, config), "none");
    EXPECT_EQ(none.questions().size(), 1u);
}

TEST(ClientSelector, NeverAsksTheSameTwice) {
    auto by_metadata = Answered{.all = true}.source();
    EXPECT_EQ(selected(by_metadata, {}, metadata, {}), "");
    EXPECT_EQ(by_metadata.questions(), (std::vector<Question>{{metadata, {}}, {}}));
    auto by_metrics = Answered{.all = true}.source();
    EXPECT_EQ(selected(by_metrics, {}, {}, metrics), "");
    EXPECT_EQ(by_metrics.questions(), (std::vector<Question>{{{}, metrics}, {}}));
    auto unfiltered = Answered{}.source();
    EXPECT_EQ(selected(unfiltered, {}, {}, {}), "none");
    EXPECT_EQ(unfiltered.questions(), (std::vector<Question>{{}}));
}

// Dropping the only filters there are leaves none, whatever the last flag says.
TEST(ClientSelector, DroppingAllFiltersIsDroppingThem) {
    ClientSelectorConfig config;
    config.fallback_use_all_healthy_last = false;
    auto by_metadata = Answered{.all = true}.source();
    EXPECT_EQ(selected(by_metadata, config, metadata, {}), "");
    config.fallback_drop_metadata_filters_next = false;
    auto kept = Answered{.all = true}.source();
    EXPECT_EQ(selected(kept, config, metadata, {}), "none");
    auto by_metrics = Answered{.all = true}.source();
    EXPECT_EQ(selected(by_metrics, config, {}, metrics), "");
}

TEST(ClientSelector, ABalancerThatChoosesNoneIsObeyed) {
    FakeSource source{std::vector<std::string>{"a"}};
    FakeBalancer balancer;
    ClientSelector const selector{source};
    std::string_view const excluded[] = {"a"};
    ChooseOptions options;
    options.exclude = excluded;
    EXPECT_FALSE(selector.select("orders", metadata, metrics, balancer, options));
    EXPECT_EQ(source.questions().size(), 1u);
}

TEST(ClientSelector, AFailureIsNoEmptyList) {
    FakeSource source{[](Filters const&, Filters const&) -> Instances {
        throw Error{errc::not_connected, "gone"};
    }};
    EXPECT_THROW(selected(source), Error);
    EXPECT_EQ(source.questions().size(), 1u);
}

// The design's selector casts what it is given to the class that uses Redis.
TEST(ClientSelector, Defect40_TakesWhateverAnswers) {
    static_assert(std::is_base_of_v<InstanceSource, ServiceConsumer>);
    static_assert(std::is_base_of_v<InstanceSource, NamingService>);
    FakeSource source{std::vector<std::string>{"mine"}};
    InstanceSource& as_interface = source;
    FakeBalancer balancer;
    EXPECT_EQ(ClientSelector{as_interface}.select("orders", {}, {}, balancer)->instance_id, "mine");
}

}  // namespace
}  // namespace rollcall::streaming
