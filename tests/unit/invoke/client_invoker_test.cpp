#include "rollcall/streaming/client_invoker.hpp"

#include <atomic>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>
#include <stdexcept>
#include <thread>

#include "unit/invoke/fakes.hpp"

#include "rollcall/error.hpp"

namespace rollcall::streaming {
namespace {

using namespace std::chrono_literals;
using test::FakeBalancer;
using test::FakeClock;
using test::FakeReporter;
using test::FakeSource;
using test::instance_called;
using testing::ElementsAre;
using testing::IsEmpty;

using Ids = std::vector<std::string>;

class Invoker : public testing::Test {
protected:
    Invoker() {
        options.retry_policy = RetryPolicy{3, 10ms, 2.0, 200ms, 0ms};
        options.clock = clock;
        options.reporter = reporter;
    }

    /// A call of `source`'s instances, each of which is remembered; `outcome` may throw.
    std::string call(ClientInvoker& invoker, std::function<void(std::string const&)> const& outcome,
                     InvokeOptions const& how = {}) {
        return invoker.invoke(
            "orders",
            [&](ServiceInstance const& instance) {
                called.push_back(instance.instance_id);
                outcome(instance.instance_id);
                return instance.instance_id;
            },
            how);
    }

    ClientInvoker invoker_of(FakeSource& source) { return {source, balancer, options}; }

    std::shared_ptr<FakeClock> clock = std::make_shared<FakeClock>();
    std::shared_ptr<FakeReporter> reporter = std::make_shared<FakeReporter>();
    std::shared_ptr<FakeBalancer> balancer = std::make_shared<FakeBalancer>();
    InvokerOptions options;
    Ids called;
};

void succeed(std::string const&) {}
void fail(std::string const& id) { throw std::runtime_error{id + " fails"}; }

std::string message_of(std::function<void()> const& failing) {
    try {
        failing();
    } catch (Error const& error) {
        return error.code().message() + "; " + error.detail();
    } catch (std::exception const& error) {
        return error.what();
    }
    return "nothing";
}

TEST_F(Invoker, GivesWhatTheCallGives) {
    FakeSource source{Ids{"a"}};
    auto invoker = invoker_of(source);
    EXPECT_EQ(call(invoker, succeed), "a");
    EXPECT_EQ(invoker.metrics().total, (InvokerCounters{1, 1, 0, 0, 0}));
    EXPECT_EQ(invoker.metrics().services,
              (decltype(InvokerMetrics::services){{"orders", InvokerCounters{1, 1, 0, 0, 0}}}));
    EXPECT_THAT(clock->pauses(), IsEmpty());
}

TEST_F(Invoker, CallsWithoutAResultAndWithFilters) {
    FakeSource source{Ids{"a"}};
    auto invoker = invoker_of(source);
    Filters const metadata{{"region", "eu"}};
    Filters const metrics{{"cpu:<", "80"}};
    int calls = 0;
    invoker.invoke("orders", metadata, metrics, [&](ServiceInstance const&) { ++calls; });
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(source.questions(), (std::vector<FakeSource::Question>{{metadata, metrics}}));
    auto owned = invoker.invoke("orders", [](auto const&) { return std::make_unique<int>(7); });
    EXPECT_EQ(*owned, 7);
}

TEST_F(Invoker, TriesAnotherInstanceAfterAPause) {
    FakeSource source{Ids{"a", "b", "c"}};
    auto invoker = invoker_of(source);
    auto const outcome = [](std::string const& id) {
        if (id != "c") fail(id);
    };
    EXPECT_EQ(call(invoker, outcome), "c");
    EXPECT_THAT(called, ElementsAre("a", "b", "c"));
    EXPECT_THAT(clock->pauses(), ElementsAre(10ms, 20ms));
    EXPECT_EQ(invoker.metrics().total, (InvokerCounters{3, 1, 2, 2, 0}));
}

TEST_F(Invoker, Defect43_FailedCallsAreCounted) {
    FakeSource source{Ids{"a", "b", "c"}};
    auto invoker = invoker_of(source);
    EXPECT_EQ(message_of([&] { call(invoker, fail); }), "c fails");
    EXPECT_EQ(invoker.metrics().total, (InvokerCounters{3, 0, 3, 2, 0}));
}

TEST_F(Invoker, Defect43_NothingSleepsAfterTheLastAttempt) {
    FakeSource source{Ids{"a", "b", "c"}};
    auto invoker = invoker_of(source);
    EXPECT_THROW(call(invoker, fail), std::runtime_error);
    EXPECT_THAT(clock->pauses(), ElementsAre(10ms, 20ms));

    FakeSource empty{Ids{}};
    auto in_vain = invoker_of(empty);
    EXPECT_THROW(call(in_vain, succeed), Error);
    EXPECT_EQ(clock->pauses().size(), 4u);
}

TEST_F(Invoker, Defect43_RetriesKeepOffOpenBreakers) {
    FakeSource source{Ids{"a", "b", "c"}};
    auto invoker = invoker_of(source);
    auto const outcome = [](std::string const& id) {
        if (id != "c") fail(id);
    };
    EXPECT_EQ(call(invoker, outcome), "c");
    called.clear();
    for (int i = 0; i < 10; ++i) EXPECT_EQ(call(invoker, outcome), "c");
    EXPECT_EQ(called, Ids(10, "c"));
    EXPECT_EQ(invoker.metrics().total.cb_open_skips, 0u);
}

TEST_F(Invoker, Defect43_BreakersAreBounded) {
    options.max_circuit_breakers = 5;
    int next = 0;
    FakeSource source{[&](Filters const&, Filters const&) {
        return Instances{instance_called(std::to_string(next++))};
    }};
    auto invoker = invoker_of(source);
    for (int i = 0; i < 100; ++i) call(invoker, succeed);
    EXPECT_EQ(invoker.circuit_breaker_count(), 5u);
    options.max_circuit_breakers = 0;
    auto with_one = invoker_of(source);
    for (int i = 0; i < 10; ++i) call(with_one, succeed);
    EXPECT_EQ(with_one.circuit_breaker_count(), 1u);
}

TEST_F(Invoker, SaysThatThereIsNoInstance) {
    FakeSource source{Ids{}};
    auto invoker = invoker_of(source);
    EXPECT_EQ(message_of([&] { call(invoker, succeed); }),
              "no instance of the service is available; No available instances for service=orders");
    EXPECT_EQ(invoker.metrics().total, (InvokerCounters{3, 0, 3, 0, 0}));
    EXPECT_THAT(reporter->told(), IsEmpty());
}

// As the design's program counts it: one call, then only skips.
TEST_F(Invoker, SaysThatTheBreakerIsOpen) {
    FakeSource source{Ids{"a"}};
    auto invoker = invoker_of(source);
    EXPECT_EQ(message_of([&] { call(invoker, fail); }),
              "the circuit breaker is open; Circuit breaker open for orders:a");
    EXPECT_THAT(called, ElementsAre("a"));
    EXPECT_EQ(invoker.metrics().total, (InvokerCounters{3, 0, 1, 1, 2}));
}

TEST_F(Invoker, ABalancerThatIgnoresExclusionsMeetsTheBreaker) {
    class First final : public LoadBalancer {
    public:
        ServiceInstance const* choose(std::string_view, std::span<ServiceInstance const> candidates,
                                      ChooseOptions const&) override {
            return candidates.data();
        }
    };
    FakeSource source{Ids{"a", "b"}};
    ClientInvoker invoker{source, std::make_shared<First>(), options};
    EXPECT_THROW(call(invoker, fail), Error);
    EXPECT_THAT(called, ElementsAre("a"));
    EXPECT_EQ(invoker.metrics().total.cb_open_skips, 2u);
}

TEST_F(Invoker, HandsTheKeyToTheBalancer) {
    class Keyed final : public LoadBalancer {
    public:
        ServiceInstance const* choose(std::string_view, std::span<ServiceInstance const> candidates,
                                      ChooseOptions const& how) override {
            for (auto const& candidate : candidates) {
                if (candidate.instance_id == how.key) return &candidate;
            }
            return nullptr;
        }
    };
    FakeSource source{Ids{"a", "b"}};
    ClientInvoker invoker{source, std::make_shared<Keyed>(), options};
    InvokeOptions how;
    how.key = "b";
    EXPECT_EQ(call(invoker, succeed, how), "b");
    EXPECT_THROW(call(invoker, succeed), Error);
}

TEST_F(Invoker, ServicesHaveBreakersOfTheirOwn) {
    FakeSource source{Ids{"a"}};
    auto invoker = invoker_of(source);
    EXPECT_THROW(call(invoker, fail), Error);
    EXPECT_EQ(invoker.invoke("others", [](auto const& found) { return found.instance_id; }), "a");
    EXPECT_EQ(invoker.metrics().services.at("others"), (InvokerCounters{1, 1, 0, 0, 0}));
    EXPECT_EQ(invoker.metrics().total, (InvokerCounters{4, 1, 1, 1, 2}));
}

TEST_F(Invoker, ReportsEachCallAndItsEnd) {
    FakeSource source{Ids{"a", "b"}};
    auto invoker = invoker_of(source);
    call(invoker, [&](std::string const& id) {
        clock->pass(7ms + 900us);
        if (id == "a") fail(id);
    });
    EXPECT_THAT(reporter->told(),
                ElementsAre("+ orders:a", "7ms orders:a", "failed orders:a", "- orders:a",
                            "+ orders:b", "7ms orders:b", "ok orders:b", "- orders:b"));
}

TEST_F(Invoker, WorksWithoutAReporterAndWithOneThatThrows) {
    class Broken final : public ClientMetricsReporter {
    public:
        void increment_inflight(std::string_view, std::string_view) override { throw 1; }
        void decrement_inflight(std::string_view, std::string_view) override { throw 2; }
        void record_latency(std::string_view, std::string_view,
                            std::chrono::milliseconds) override {
            throw std::runtime_error{"3"};
        }
        void record_outcome(std::string_view, std::string_view, bool) override { throw 4; }
    };
    FakeSource source{Ids{"a", "b", "c"}};
    options.reporter = std::make_shared<Broken>();
    auto broken = invoker_of(source);
    EXPECT_EQ(call(broken, succeed), "a");
    EXPECT_EQ(message_of([&] { call(broken, fail); }), "a fails");
    options.reporter = nullptr;
    auto none = invoker_of(source);
    EXPECT_EQ(call(none, succeed), "b");
}

TEST_F(Invoker, RefusesToBeWithoutABalancer) {
    FakeSource source{Ids{"a"}};
    EXPECT_THROW((ClientInvoker{source, nullptr}), std::invalid_argument);
}

// Failures of the source.

TEST_F(Invoker, AFailureThatMayPassIsTriedAgain) {
    int asked = 0;
    FakeSource source{[&](Filters const&, Filters const&) -> Instances {
        if (++asked < 3) throw Error{errc::not_connected, "gone"};
        return {instance_called("a")};
    }};
    auto invoker = invoker_of(source);
    EXPECT_EQ(call(invoker, succeed), "a");
    EXPECT_EQ(invoker.metrics().total, (InvokerCounters{3, 1, 2, 0, 0}));
    asked = -10;
    EXPECT_EQ(message_of([&] { call(invoker, succeed); }), "Redis cannot be reached; gone");
}

TEST_F(Invoker, AnyOtherFailureOfTheSourceIsHandedOnAtOnce) {
    FakeSource denied{[](Filters const&, Filters const&) -> Instances {
        throw Error{errc::access_denied, "no"};
    }};
    auto invoker = invoker_of(denied);
    EXPECT_THROW(call(invoker, succeed), Error);
    FakeSource refusing{
        [](Filters const&, Filters const&) -> Instances { throw std::invalid_argument{"a name"}; }};
    auto refused = invoker_of(refusing);
    EXPECT_THROW(call(refused, succeed), std::invalid_argument);
    EXPECT_EQ(denied.questions().size() + refusing.questions().size(), 2u);
    EXPECT_THAT(clock->pauses(), IsEmpty());
}

// Ends that the caller sets.

TEST_F(Invoker, ADeadlineEndsTheRetries) {
    FakeSource source{Ids{"a", "b", "c"}};
    auto invoker = invoker_of(source);
    InvokeOptions how;
    how.deadline = clock->now() + 25ms;
    EXPECT_EQ(message_of([&] { call(invoker, fail, how); }), "b fails");
    EXPECT_THAT(clock->pauses(), ElementsAre(10ms));
    EXPECT_EQ(invoker.metrics().total, (InvokerCounters{2, 0, 2, 1, 0}));
}

TEST_F(Invoker, NothingBeginsAfterTheDeadline) {
    FakeSource source{Ids{"a"}};
    auto invoker = invoker_of(source);
    InvokeOptions how;
    how.deadline = clock->now();
    try {
        call(invoker, succeed, how);
        FAIL() << "it was called";
    } catch (Error const& error) {
        EXPECT_EQ(error.code(), errc::timeout);
    }
    EXPECT_THAT(called, IsEmpty());
    EXPECT_EQ(invoker.metrics().total, InvokerCounters{});
}

TEST_F(Invoker, AStopEndsAPause) {
    FakeSource source{Ids{"a", "b"}};
    auto invoker = invoker_of(source);
    std::stop_source stop;
    clock->meanwhile([&] { stop.request_stop(); });
    InvokeOptions how;
    how.stop = stop.get_token();
    EXPECT_EQ(message_of([&] { call(invoker, fail, how); }),
              "cancelled by the caller; a stop was requested");
    EXPECT_THAT(called, ElementsAre("a"));
    EXPECT_EQ(message_of([&] { call(invoker, succeed, how); }),
              "cancelled by the caller; a stop was requested");
    EXPECT_THAT(called, ElementsAre("a"));
}

TEST_F(Invoker, AStopEndsARealPauseAtOnce) {
    FakeSource source{Ids{"a", "b"}};
    options.clock = nullptr;
    options.retry_policy = RetryPolicy{3, 24h, 1.0, 24h, 0ms};
    auto invoker = invoker_of(source);
    std::stop_source stop;
    InvokeOptions how;
    how.stop = stop.get_token();
    std::atomic<bool> failed = false;
    std::jthread const stopper{[&] {
        while (!failed) std::this_thread::yield();
        stop.request_stop();
    }};
    auto const outcome = [&](std::string const& id) {
        failed = true;
        fail(id);
    };
    auto const thrown = message_of([&] { call(invoker, outcome, how); });
    // Either it was seen that the stop came during the call, or during the pause behind it.
    EXPECT_THAT(thrown, testing::AnyOf("cancelled by the caller; a stop was requested", "a fails"));
    EXPECT_THAT(called, ElementsAre("a"));
}

TEST_F(Invoker, ARealPauseLastsAsLongAsItShould) {
    FakeSource source{Ids{"a", "b"}};
    options.clock = nullptr;
    options.retry_policy = RetryPolicy{2, 20ms, 1.0, 20ms, 0ms};
    auto invoker = invoker_of(source);
    auto const begun = std::chrono::steady_clock::now();
    EXPECT_THROW(call(invoker, fail), std::runtime_error);
    EXPECT_GE(std::chrono::steady_clock::now() - begun, 20ms);
}

}  // namespace
}  // namespace rollcall::streaming
