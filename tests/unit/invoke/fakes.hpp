#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <mutex>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rollcall/streaming/client_invoker.hpp"
#include "rollcall/streaming/instance_source.hpp"
#include "rollcall/streaming/load_balancer.hpp"

namespace rollcall::streaming::test {

inline ServiceInstance instance_called(std::string id) {
    ServiceInstance instance;
    instance.service_name = "orders";
    instance.instance_id = std::move(id);
    instance.host = "10.0.0.5";
    instance.port = 80;
    return instance;
}

/// Answers as it is told to, and remembers what it was asked.
class FakeSource final : public InstanceSource {
public:
    struct Question {
        Filters metadata;
        Filters metrics;
        friend bool operator==(Question const&, Question const&) = default;
    };
    using Answer = std::function<Instances(Filters const& metadata, Filters const& metrics)>;

    explicit FakeSource(Answer answer) : answer_(std::move(answer)) {}
    /// Those instances, whatever is asked.
    explicit FakeSource(std::vector<std::string> const& ids)
        : FakeSource([ids](Filters const&, Filters const&) {
              Instances instances;
              for (auto const& id : ids) instances.push_back(instance_called(id));
              return instances;
          }) {}

    Instances healthy_instances_by_filters(std::string_view, Filters const& metadata,
                                           Filters const& metrics) override {
        {
            std::lock_guard const lock{mutex_};
            questions_.push_back({metadata, metrics});
        }
        return answer_(metadata, metrics);
    }

    std::vector<Question> questions() const {
        std::lock_guard const lock{mutex_};
        return questions_;
    }

private:
    Answer const answer_;
    std::mutex mutable mutex_;
    std::vector<Question> questions_;
};

/// One after the other, of those that are not excluded.
class FakeBalancer final : public LoadBalancer {
public:
    ServiceInstance const* choose(std::string_view, std::span<ServiceInstance const> candidates,
                                  ChooseOptions const& options) override {
        auto const begin = turn_++;
        for (std::size_t i = 0; i < candidates.size(); ++i) {
            auto const& candidate = candidates[(begin + i) % candidates.size()];
            if (std::ranges::count(options.exclude, candidate.instance_id) == 0) return &candidate;
        }
        return nullptr;
    }

private:
    std::atomic<std::size_t> turn_ = 0;
};

/// Time that passes by waiting only.
class FakeClock final : public InvokerClock {
public:
    TimePoint now() override {
        std::lock_guard const lock{mutex_};
        return now_;
    }
    void wait(TimePoint end, std::stop_token const& stop) override {
        std::function<void()> meanwhile;
        {
            std::lock_guard const lock{mutex_};
            pauses_.push_back(end - now_);
            meanwhile = meanwhile_;
        }
        if (meanwhile) meanwhile();
        std::lock_guard const lock{mutex_};
        if (!stop.stop_requested()) now_ = std::max(now_, end);
    }

    void pass(TimePoint::duration time) {
        std::lock_guard const lock{mutex_};
        now_ += time;
    }
    /// Called in each pause.
    void meanwhile(std::function<void()> what) {
        std::lock_guard const lock{mutex_};
        meanwhile_ = std::move(what);
    }
    std::vector<TimePoint::duration> pauses() const {
        std::lock_guard const lock{mutex_};
        return pauses_;
    }

private:
    std::mutex mutable mutex_;
    TimePoint now_;
    std::vector<TimePoint::duration> pauses_;
    std::function<void()> meanwhile_;
};

/// Writes down what it is told.
class FakeReporter final : public ClientMetricsReporter {
public:
    void increment_inflight(std::string_view service, std::string_view id) override {
        write("+", service, id);
    }
    void decrement_inflight(std::string_view service, std::string_view id) override {
        write("-", service, id);
    }
    void record_latency(std::string_view service, std::string_view id,
                        std::chrono::milliseconds latency) override {
        write(std::to_string(latency.count()) + "ms", service, id);
    }
    void record_outcome(std::string_view service, std::string_view id, bool success) override {
        write(success ? "ok" : "failed", service, id);
    }

    std::vector<std::string> told() const {
        std::lock_guard const lock{mutex_};
        return told_;
    }

private:
    void write(std::string what, std::string_view service, std::string_view id) {
        std::lock_guard const lock{mutex_};
        told_.push_back(what.append(" ").append(service).append(":").append(id));
    }

    std::mutex mutable mutex_;
    std::vector<std::string> told_;
};

}  // namespace rollcall::streaming::test
