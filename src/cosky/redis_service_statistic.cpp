#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <iterator>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <utility>

#include "core/text.hpp"
#include "cosky/discovery_redis_scripts.hpp"
#include "cosky/instance_reader.hpp"
#include "cosky/roll.hpp"
#include "cosky/statistic_feed.hpp"
#include "redis/request.hpp"
#include "registry/outcome.hpp"

#include "rollcall/cosky/discovery_key_generator.hpp"
#include "rollcall/cosky/instance_id.hpp"
#include "rollcall/cosky/namespaced.hpp"
#include "rollcall/cosky/service_statistic.hpp"

namespace rollcall::cosky {
namespace {

/// One command with a key; its reply, which is no error.
Task<Result<redis::Response>> ask(redis::ClientCore& core, std::string_view command,
                                  std::string key, Deadline deadline) {
    redis::Request request;
    redis::Response response;
    std::array<std::string_view, 1> const arguments{key};
    request.push(command, arguments);
    auto const outcome = co_await core.session().exec(request, response, deadline);
    if (outcome.has_error()) co_return outcome.error();
    if (response[0].is_error()) co_return redis::failure_of(response[0], "read " + key);
    co_return std::move(response);
}

std::optional<std::int32_t> count_of(std::string_view text) {
    std::int32_t count = 0;
    auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return count;
}

StatisticOptions checked(StatisticOptions const& options) {
    if (options.pause < std::chrono::milliseconds{1} || options.pause > std::chrono::hours{1}) {
        refuse("pause", options.pause.count(), "must be 1 ms to one hour");
    }
    return options;
}

}  // namespace

struct RedisServiceStatistic::Impl {
    Impl(std::shared_ptr<redis::ClientCore> client, StatisticOptions const& given)
        : core(std::move(client)), options(checked(given)), scripts(core), reader(scripts) {}

    void start(std::string_view ns);
    void stop(std::string_view ns) noexcept;
    void stop() noexcept;

    Result<bool> count(std::string_view ns, std::optional<std::string> const& service) const;
    Result<std::vector<ServiceStat>> stats(std::string_view ns) const;
    Result<std::int64_t> instances(std::string_view ns);
    Task<Result<std::int64_t>> count_all(std::string ns, Deadline deadline);
    Result<std::int64_t> services(std::string_view ns) const;

    using Feeds = std::map<std::string, std::shared_ptr<StatisticFeed>, std::less<>>;

    std::shared_ptr<redis::ClientCore> core;
    StatisticOptions options;
    DiscoveryRedisScripts scripts;
    InstanceReader reader;  // On the I/O thread only.

    std::mutex mutex;  // Guards what is below.
    Feeds feeds;
};

void RedisServiceStatistic::Impl::start(std::string_view ns) {
    validate_namespace(ns);
    if (core->closed()) throw_exception_from_error(redis::was_forked(), {});
    std::lock_guard const lock{mutex};
    if (feeds.contains(ns)) return;
    std::string const space{ns};
    auto const feed = std::make_shared<StatisticFeed>(core, space, options.pause);
    auto const at = feeds.emplace(space, feed).first;
    auto const started = feed->start();
    if (started.has_error()) {
        feeds.erase(at);
        feed->stop();
        started.value();
    }
}

void RedisServiceStatistic::Impl::stop(std::string_view ns) noexcept {
    if (core->closed()) return;
    Feeds::node_type ended;
    {
        std::lock_guard const lock{mutex};
        auto const found = feeds.find(ns);
        if (found != feeds.end()) ended = feeds.extract(found);
    }
    if (!ended.empty()) ended.mapped()->stop();
}

void RedisServiceStatistic::Impl::stop() noexcept {
    if (core->closed()) return;
    Feeds ended;
    {
        std::lock_guard const lock{mutex};
        ended.swap(feeds);
    }
    for (auto const& [ns, feed] : ended) feed->stop();
}

Result<bool> RedisServiceStatistic::Impl::count(std::string_view ns,
                                                std::optional<std::string> const& service) const {
    validate_namespace(ns);
    if (service) validate_stored_name("service name", *service);
    std::string const space{ns};
    auto const done =
        core->run([&] { return scripts.service_stat(space, service, core->deadline()); });
    if (done.has_error()) return done.error();
    return true;
}

Result<std::vector<ServiceStat>> RedisServiceStatistic::Impl::stats(std::string_view ns) const {
    validate_namespace(ns);
    auto const key = DiscoveryKeyGenerator::service_stat_key(ns);
    auto const response = core->run([&] { return ask(*core, "HGETALL", key, core->deadline()); });
    if (response.has_error()) return response.error();
    std::vector<ServiceStat> stats;
    auto const reply = (*response)[0];
    for (auto at = reply.begin(); at != reply.end(); ++at) {
        std::string name{(*at).text()};
        if (++at == reply.end()) break;
        if (auto const stored = count_of((*at).text())) {
            stats.push_back({std::move(name), *stored});
        } else {
            core->log().write(LogLevel::warning, "left-out",
                              "left out " + name + " of " + key + ": its count is no number");
        }
    }
    std::ranges::sort(stats, {}, &ServiceStat::service_name);
    return stats;
}

/// With plain commands, so that it works where nothing may be written. What has expired is cleaned
/// up afterwards, where that is allowed.
Task<Result<std::int64_t>> RedisServiceStatistic::Impl::count_all(std::string ns,
                                                                  Deadline deadline) {
    auto const services = co_await reader.services(ns, deadline);
    if (services.has_error()) co_return services.error();
    std::int64_t total = 0;
    std::vector<ExpireCall> expired;
    for (std::span<std::string const> left{*services}; !left.empty();) {
        auto const wave = left.first(std::min(left.size(), services_per_wave));
        left = left.subspan(wave.size());
        auto const rolls = co_await call_rolls(core->session(), ns, wave, deadline);
        for (std::size_t i = 0; i < wave.size(); ++i) {
            if (rolls[i].no_list) {
                reader.skip(ns, wave[i], "its list of instances is no set");
            } else if (rolls[i].failure) {
                co_return *rolls[i].failure;
            }
            total += static_cast<std::int64_t>(rolls[i].living);
            auto calls = expire_calls(ns, wave[i], rolls[i].expired, Unannounced::kept);
            std::ranges::move(calls, std::back_inserter(expired));
        }
    }
    co_await reader.clean_up(ns, std::move(expired), deadline);
    co_return total;
}

Result<std::int64_t> RedisServiceStatistic::Impl::instances(std::string_view ns) {
    validate_namespace(ns);
    std::string const space{ns};
    return core->run([&] { return count_all(space, core->deadline()); });
}

Result<std::int64_t> RedisServiceStatistic::Impl::services(std::string_view ns) const {
    validate_namespace(ns);
    auto const key = DiscoveryKeyGenerator::service_stat_key(ns);
    auto const response = core->run([&] { return ask(*core, "HLEN", key, core->deadline()); });
    if (response.has_error()) return response.error();
    return (*response)[0].integer();
}

RedisServiceStatistic::RedisServiceStatistic(Client const& client, StatisticOptions options)
    : impl_(std::make_shared<Impl>(client.core(), options)) {}

RedisServiceStatistic::~RedisServiceStatistic() { impl_->stop(); }

void RedisServiceStatistic::start(std::string_view ns) { impl_->start(ns); }
void RedisServiceStatistic::stop(std::string_view ns) noexcept { impl_->stop(ns); }
void RedisServiceStatistic::stop() noexcept { impl_->stop(); }

void RedisServiceStatistic::stat_service(std::string_view ns) {
    (void)outcome(impl_->count(ns, std::nullopt));
}
void RedisServiceStatistic::stat_service(std::string_view ns, std::error_code& error) {
    (void)outcome(impl_->count(ns, std::nullopt), error);
}
void RedisServiceStatistic::stat_service(std::string_view ns, std::string_view service) {
    (void)outcome(impl_->count(ns, std::string{service}));
}
void RedisServiceStatistic::stat_service(std::string_view ns, std::string_view service,
                                         std::error_code& error) {
    (void)outcome(impl_->count(ns, std::string{service}), error);
}

std::vector<ServiceStat> RedisServiceStatistic::service_stats(std::string_view ns) {
    return outcome(impl_->stats(ns));
}
std::vector<ServiceStat> RedisServiceStatistic::service_stats(std::string_view ns,
                                                              std::error_code& error) {
    return outcome(impl_->stats(ns), error);
}

std::int64_t RedisServiceStatistic::instance_count(std::string_view ns) {
    return outcome(impl_->instances(ns));
}
std::int64_t RedisServiceStatistic::instance_count(std::string_view ns, std::error_code& error) {
    return outcome(impl_->instances(ns), error);
}

std::int64_t RedisServiceStatistic::count_service(std::string_view ns) {
    return outcome(impl_->services(ns));
}
std::int64_t RedisServiceStatistic::count_service(std::string_view ns, std::error_code& error) {
    return outcome(impl_->services(ns), error);
}

}  // namespace rollcall::cosky
