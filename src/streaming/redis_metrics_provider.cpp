#include <array>
#include <chrono>
#include <limits>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "core/text.hpp"
#include "redis/client_core.hpp"
#include "registry/exchange.hpp"
#include "streaming/metrics_cache.hpp"
#include "streaming/metrics_text.hpp"

#include "rollcall/streaming/metrics_provider.hpp"
#include "rollcall/streaming/registry_keys.hpp"

namespace rollcall::streaming {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using Ids = std::vector<std::string_view>;

constexpr milliseconds longest{86'400'000};

void check(char const* field, milliseconds value) {
    if (value >= milliseconds{1} && value <= longest) return;
    refuse(field, std::to_string(value.count()) + " ms", "must be between 1 ms and a day");
}

RedisMetricsOptions checked(RedisMetricsOptions const& options) {
    check("cache_for", options.cache_for);
    check("patience", options.patience);
    if (options.max_instances == 0) refuse("max_instances", 0, "must be at least 1");
    return options;
}

/// The field of each key, empty where there is none.
Task<Result<std::vector<std::string>>> metrics_of(redis::Session& session,
                                                  std::vector<std::string> const& keys,
                                                  Deadline deadline) {
    std::vector<std::string> texts(keys.size());
    Reads reads;
    reads.items = keys.size();
    reads.bytes = 256;
    reads.push = [&](redis::Request& request, std::size_t item) {
        request.push("HGET", {keys[item], "metrics"});
    };
    reads.take = [&](redis::Response const& response, std::size_t first,
                     std::size_t last) -> std::optional<Failure> {
        for (auto item = first; item < last; ++item) {
            auto const reply = response[item - first];
            if (!reply.is_error()) texts[item] = reply.text();
        }
        return std::nullopt;
    };
    auto const done = co_await exec_reads(session, reads, deadline);
    if (done.has_error()) co_return done.error();
    co_return texts;
}

}  // namespace

struct RedisMetricsProvider::Impl {
    Impl(Client const& client, BaseRedisConfig const& config, RedisMetricsOptions const& given)
        : core(client.core()),
          keys(RegistryKeys::validated_prefix(config.key_prefix)),
          options(checked(given)),
          cache(options.max_instances) {}

    std::vector<std::string> texts(std::string_view service, Ids const& ids) const;
    std::vector<MetricsCache::KnownPtr> ask(std::string_view service, Ids const& ids) const;
    MetricsCache::View view_of(std::string_view service, Ids wanted);

    std::shared_ptr<redis::ClientCore> const core;
    RegistryKeys const keys;
    RedisMetricsOptions const options;
    MetricsCache cache;
    std::mutex asking;  // Who waits for it finds what the other asked for.
};

/// Empty for what is not there, and all of them where Redis does not answer.
std::vector<std::string> RedisMetricsProvider::Impl::texts(std::string_view service,
                                                           Ids const& ids) const {
    std::vector<std::string> none(ids.size());
    try {
        std::vector<std::string> names;
        auto const stored = RegistryKeys::validate_and_sanitize_service_name(service);
        for (auto const id : ids) {
            names.push_back(
                keys.instance(stored, RegistryKeys::validate_and_sanitize_instance_id(id)));
        }
        auto const deadline = after(options.patience);
        auto found = core->run([&] { return metrics_of(core->session(), names, deadline); });
        return found.has_error() ? none : *std::move(found);
    } catch (std::invalid_argument const&) {
        return none;  // Nobody is stored under such a name.
    }
}

std::vector<MetricsCache::KnownPtr> RedisMetricsProvider::Impl::ask(std::string_view service,
                                                                    Ids const& ids) const {
    auto const found = texts(service, ids);
    auto const until = Clock::now() + options.cache_for;
    std::vector<MetricsCache::KnownPtr> known;
    for (std::size_t i = 0; i < ids.size(); ++i) {
        known.push_back(std::make_shared<MetricsCache::Known>(MetricsCache::Known{
            std::string{service}, std::string{ids[i]}, read_metrics(found[i]), until}));
    }
    return known;
}

/// With all of `wanted`, as far as there is room.
MetricsCache::View RedisMetricsProvider::Impl::view_of(std::string_view service, Ids wanted) {
    std::lock_guard const lock{asking};
    auto const now = Clock::now();
    auto const before = cache.view();
    std::erase_if(wanted,
                  [&](std::string_view id) { return before.find({service, id}, now) != nullptr; });
    if (!wanted.empty()) cache.add(ask(service, wanted), now);
    return cache.view();
}

RedisMetricsProvider::RedisMetricsProvider(Client const& client, BaseRedisConfig const& config,
                                           RedisMetricsOptions options)
    : impl_(std::make_unique<Impl>(client, config, options)) {}

RedisMetricsProvider::~RedisMetricsProvider() = default;

Metrics RedisMetricsProvider::metrics(std::string_view service_name, std::string_view instance_id) {
    MetricsCache::Name const name{service_name, instance_id};
    auto const now = Clock::now();
    if (auto const* const known = impl_->cache.view().find(name, now)) return known->metrics;
    auto const view = impl_->view_of(service_name, {instance_id});
    auto const* const known = view.find(name, now);
    return known == nullptr ? Metrics{} : known->metrics;
}

void RedisMetricsProvider::read(std::string_view service_name,
                                std::span<ServiceInstance const> candidates,
                                std::span<std::string_view const> names, std::span<double> values) {
    auto const now = Clock::now();
    auto view = impl_->cache.view();
    Ids missing;
    for (auto const& candidate : candidates) {
        if (view.find({service_name, candidate.instance_id}, now) == nullptr) {
            missing.push_back(candidate.instance_id);
        }
    }
    if (!missing.empty()) view = impl_->view_of(service_name, std::move(missing));
    auto value = values.begin();
    for (auto const& candidate : candidates) {
        auto const* const known = view.find({service_name, candidate.instance_id}, now);
        for (auto const name : names) {
            *value = std::numeric_limits<double>::quiet_NaN();
            if (known != nullptr) {
                auto const found = known->metrics.find(name);
                if (found != known->metrics.end()) *value = found->second;
            }
            ++value;
        }
    }
}

}  // namespace rollcall::streaming
