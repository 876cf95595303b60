#include "streaming/health_figures.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/java_text.hpp"
#include "registry/exchange.hpp"
#include "streaming/instance_details.hpp"
#include "streaming/service_keys.hpp"

namespace rollcall::streaming {
namespace {

constexpr std::size_t services_per_request = 32;
constexpr std::size_t instances_per_request = 64;

/// The figures while they are being gathered.
class Tally {
public:
    Tally(RegistryLuaScriptExecutor const& scripts, std::vector<std::string> const& services)
        : scripts_(scripts), services_(services) {}

    std::shared_ptr<Exchanges> questions_to_services(Milliseconds oldest) const;
    /// Takes the answers of one request; makes of them what is asked of instances.
    void take_services(std::size_t index, Exchange const& exchange);
    std::shared_ptr<Exchanges> const& questions_to_instances() const { return instances_; }
    void take_instances(Exchange const& exchange);

    std::optional<Failure> failure = {};  ///< What makes the figures void.
    RegistryHealth figures = {};

private:
    void take_service(std::string const& service, redis::Value size, redis::Value active);
    void ask(std::string const& key);
    void leave_out(std::string const& what) const;

    RegistryLuaScriptExecutor const& scripts_;
    std::vector<std::string> const& services_;
    std::shared_ptr<Exchanges> instances_ = std::make_shared<Exchanges>();
    std::size_t asked_ = 0;  // Instances.
};

std::shared_ptr<Exchanges> Tally::questions_to_services(Milliseconds oldest) const {
    auto const bound = '(' + std::to_string(oldest.count());
    auto exchanges = std::make_shared<Exchanges>((services_.size() + services_per_request - 1) /
                                                 services_per_request);
    for (std::size_t i = 0; i < services_.size(); ++i) {
        auto const key = ServiceKeys{scripts_.keys().prefix(), services_[i]}.heartbeats();
        std::array<std::string_view, 1> const whole{key};
        std::array<std::string_view, 3> const range{key, bound, "+inf"};
        auto& request = (*exchanges)[i / services_per_request].request;
        request.push("ZCARD", whole);
        request.push("ZRANGEBYSCORE", range);
    }
    return exchanges;
}

void Tally::take_services(std::size_t index, Exchange const& exchange) {
    if (exchange.failure) failure = exchange.failure;
    auto const first = index * services_per_request;
    auto const last = std::min(first + services_per_request, services_.size());
    for (auto i = first; i < last && !failure; ++i) {
        auto const at = 2 * (i - first);
        take_service(services_[i], exchange.response[at], exchange.response[at + 1]);
    }
}

void Tally::take_service(std::string const& service, redis::Value size, redis::Value active) {
    for (auto const reply : {size, active}) {
        if (!reply.is_error()) continue;
        if (is_wrong_type(reply)) return leave_out("the heartbeats of " + service);
        failure = redis::failure_of(reply, "count the instances of " + service);
        return;
    }
    figures.total_instances += static_cast<std::size_t>(size.integer());
    ServiceKeys const keys{scripts_.keys().prefix(), service};
    for (auto const id : active) ask(keys.instance(id.text()));
}

void Tally::ask(std::string const& key) {
    if (asked_++ % instances_per_request == 0) instances_->emplace_back();
    std::array<std::string_view, 3> const fields{key, "host", "healthy"};
    instances_->back().request.push("HMGET", fields);
}

void Tally::take_instances(Exchange const& exchange) {
    if (exchange.failure) failure = exchange.failure;
    for (std::size_t i = 0; i < exchange.response.size() && !failure; ++i) {
        auto const reply = exchange.response[i];
        if (reply.is_error()) {
            if (is_wrong_type(reply)) {
                leave_out("an instance");
            } else {
                failure = redis::failure_of(reply, "count the healthy instances");
            }
            continue;
        }
        if (reply[0].is_null()) continue;  // Left behind by a peer: no instance.
        ++figures.active_instances;
        if (reply[1].is_null() || parse_java_bool(reply[1].text())) ++figures.healthy_instances;
    }
}

void Tally::leave_out(std::string const& what) const {
    scripts_.core().log().write(
        LogLevel::warning, "left-out",
        "left out of the health figures: the key of " + what + " has another type");
}

}  // namespace

Task<Result<RegistryHealth>> read_health(RegistryLuaScriptExecutor const& scripts,
                                         InstanceReader& reader, Milliseconds window,
                                         Deadline deadline) {
    auto const index = co_await reader.index(deadline);
    if (index.has_error()) co_return index.error();
    auto& session = scripts.core().session();
    Tally tally{scripts, index->names};
    auto const services = tally.questions_to_services(index->now - window);
    OnAnswer const on_services = [&](std::size_t i) {
        tally.take_services(i, (*services)[i]);
        (*services)[i].response = redis::Response{};  // The next one can have its memory.
    };
    co_await exec_all(session, services, deadline, on_services);
    if (tally.failure) co_return *std::move(tally.failure);
    auto const instances = tally.questions_to_instances();
    OnAnswer const on_instances = [&](std::size_t i) {
        tally.take_instances((*instances)[i]);
        (*instances)[i].response = redis::Response{};
    };
    co_await exec_all(session, instances, deadline, on_instances);
    if (tally.failure) co_return *std::move(tally.failure);

    auto result = tally.figures;
    result.total_services = index->names.size();
    result.timestamp = index->now;
    result.healthy_rate = percent(result.healthy_instances, result.active_instances);
    co_return result;
}

}  // namespace rollcall::streaming
