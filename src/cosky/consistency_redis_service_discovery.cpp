#include <algorithm>
#include <cstdint>
#include <map>
#include <mutex>
#include <new>
#include <utility>

#include "core/text.hpp"
#include "cosky/cosky_port.hpp"
#include "cosky/event_hook.hpp"
#include "cosky/readable_namespaces.hpp"
#include "cosky/redis_time.hpp"
#include "cosky/services_cache.hpp"
#include "cosky/topology_edge.hpp"
#include "registry/layout_port.hpp"
#include "registry/live/directory.hpp"
#include "registry/live/service_state.hpp"
#include "registry/live/snapshot_cell.hpp"
#include "registry/live/table_draft.hpp"
#include "registry/outcome.hpp"

#include "rollcall/cosky/config.hpp"
#include "rollcall/cosky/consistency_service_discovery.hpp"
#include "rollcall/cosky/instance_id.hpp"
#include "rollcall/cosky/namespaced.hpp"

namespace rollcall::cosky {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t most_namespaces = 1'000;
constexpr std::size_t most_services = 100'000;

ConsistencyOptions checked(ConsistencyOptions const& options) {
    auto const unused_for = options.unused_for;
    if (unused_for < milliseconds::zero() || unused_for > longest_limit) {
        refuse("unused_for", unused_for.count(), "must be from 0 to a hundred years");
    }
    if (options.max_services > most_services) {
        refuse("max_services", static_cast<long long>(options.max_services),
               "must not be more than 100,000");
    }
    live::validate(options.reads);
    RegistryProperties properties;
    properties.instance_ttl = options.instance_ttl;
    validate(properties);
    return options;
}

CoskyPortOptions port_options(std::string ns, ConsistencyOptions const& options) {
    CoskyPortOptions result;
    result.ns = std::move(ns);
    result.lease = options.instance_ttl;
    result.heartbeat = options.instance_ttl / 3;
    return result;
}

live::DirectoryOptions directory_options(ConsistencyOptions const& options) {
    live::DirectoryOptions result;
    result.unused_for = options.unused_for;
    return result;
}

/// What is remembered of one namespace.
struct Remembered {
    Remembered(std::shared_ptr<redis::ClientCore> const& core, std::string const& ns,
               ConsistencyOptions const& options)
        : port(make_cosky_port(core, port_options(ns, options))),
          directory(std::make_shared<live::Directory>(
              core, std::shared_ptr<LivePort>{port, &port->live()}, directory_options(options))),
          services(std::make_shared<ServicesCache>(core, ns)) {}
    ~Remembered() { services->stop(); }
    Remembered(Remembered const&) = delete;
    Remembered& operator=(Remembered const&) = delete;

    /// The list of services is listened to from the first time on that it is asked for.
    Result<void> listen() {
        std::lock_guard const lock{mutex};
        if (listening) return {};
        auto started = services->start();
        listening = started.has_value();
        return started;
    }

    /// Whether nothing was read from it before; not from one of that name that was watched before.
    bool is_first_read(live::WatchedService& watched) {
        std::lock_guard const lock{mutex};
        auto const found = read.find(watched.name());
        if (found != read.end() && found->second.lock().get() == &watched) return false;
        if (read.size() >= most_services) {
            std::erase_if(read, [](auto const& entry) { return entry.second.expired(); });
        }
        read.insert_or_assign(watched.name(), watched.weak_from_this());
        return true;
    }

    std::shared_ptr<LayoutPort> const port;
    std::shared_ptr<live::Directory> const directory;
    std::shared_ptr<ServicesCache> const services;
    std::uint64_t last_use = 0;  // Guarded by its owner.
    std::mutex mutex;            // Guards what is below.
    bool listening = false;
    std::map<std::string, std::weak_ptr<live::WatchedService>, std::less<>> read;
};

}  // namespace

struct ConsistencyRedisServiceDiscovery::Impl {
    Impl(Client const& client, std::shared_ptr<ServiceTopology> uses,
         ConsistencyOptions const& given)
        : core(client.core()),
          topology(std::move(uses)),
          options(checked(given)),
          asking(client),
          time(std::make_shared<RedisTime>(core)),
          hooked(options.hook ? EventHook::make_queue(options.hook, core->callbacks()) : nullptr) {}

    Result<std::shared_ptr<Remembered>> remembered(std::string_view ns);
    std::shared_ptr<Remembered> remembered_already(std::string_view ns);
    std::shared_ptr<Remembered> take_longest_unused();
    Result<std::vector<std::string>> services(std::string_view ns);
    Result<DiscoveredInstances> instances(std::string_view ns, std::string_view service);
    bool is_full(Remembered const& known, std::string_view service) const;
    Result<Snapshot> snapshot(std::string_view ns, std::string_view service);
    Result<Snapshot> loaded(Remembered& known, std::string_view ns, std::string_view service);
    Result<std::optional<DiscoveredInstance>> remembered_instance(std::string_view ns,
                                                                  std::string_view service,
                                                                  std::string_view id);
    Result<std::optional<DiscoveredInstance>> instance(std::string_view ns,
                                                       std::string_view service,
                                                       std::string_view id);
    Result<std::int64_t> ttl(std::string_view ns, std::string_view service, std::string_view id);
    void begin_to_use(Remembered& known, std::string_view ns, live::WatchedService& watched);
    Result<RedisClock::Time> redis_now() const;
    void stop() noexcept;

    std::shared_ptr<redis::ClientCore> const core;
    std::shared_ptr<ServiceTopology> const topology;
    ConsistencyOptions const options;
    RedisServiceDiscovery asking;  // What is not remembered.
    std::shared_ptr<RedisTime> const time;
    std::shared_ptr<EventHook::Queue> const hooked;  // Null without a hook.
    // Of those namespaces below; changed by who holds the mutex.
    ReadableNamespaces readable_namespaces;

    std::mutex mutex;  // Guards what is below.
    std::map<std::string, std::shared_ptr<Remembered>, std::less<>> namespaces;
    std::uint64_t last_use = 0;
    redis::Background timing;
};

namespace {

/// `ttl_at` as a read from Redis would have it, to about a second.
std::int64_t ttl_at(ServiceInstance const& instance, InstanceState const& state,
                    RedisClock::Time redis_now) {
    if (!instance.ephemeral) return TTL_AT_FOREVER;
    if (!state.lease_until) return 0;
    auto const left = *state.lease_until - std::chrono::steady_clock::now();
    auto const end = redis_now + std::chrono::duration_cast<milliseconds>(left);
    return std::chrono::floor<std::chrono::seconds>(end).count();
}

DiscoveredInstance discovered(ServiceInstance const& instance, Snapshot const& snapshot,
                              RedisClock::Time redis_now) {
    DiscoveredInstance result;
    result.instance = instance;
    result.state = snapshot.state(instance.instance_id).value_or(InstanceState{});
    result.ttl_at = ttl_at(instance, result.state, redis_now);
    return result;
}

/// Of what is not watched.
Snapshot snapshot_of(std::string service, DiscoveredInstances const& found) {
    live::TableDraft draft{*live::InstanceTable::empty_table()};
    for (auto const& one : found) draft.put(live::make_record(one.instance, one.state));
    live::SnapshotCell cell{std::move(service)};
    cell.publish(std::move(draft).finish());
    return cell.snapshot();
}

/// The value that `ask(error)` gives, or its error.
template <class Ask>
auto answer_of(Ask ask) -> Result<std::invoke_result_t<Ask>> {
    try {
        return ask();
    } catch (Error const& error) {
        return Failure{error.code(), error.detail()};
    }
}

}  // namespace

Result<std::shared_ptr<Remembered>> ConsistencyRedisServiceDiscovery::Impl::remembered(
    std::string_view ns) {
    validate_namespace(ns);
    if (core->closed()) return redis::was_forked();
    std::shared_ptr<Remembered> forgotten;  // Ends without the mutex, when nobody uses it any more.
    std::lock_guard const lock{mutex};
    auto found = namespaces.find(ns);
    if (found == namespaces.end()) {
        if (namespaces.size() >= most_namespaces) forgotten = take_longest_unused();
        if (namespaces.empty()) {
            timing = core->spawn([clock = time] { return RedisTime::run(clock); });
        }
        std::string const name{ns};
        found = namespaces.emplace(name, std::make_shared<Remembered>(core, name, options)).first;
        readable_namespaces.add(name, found->second->directory->by_name());
    }
    found->second->last_use = ++last_use;
    return found->second;
}

/// Null unless it is.
std::shared_ptr<Remembered> ConsistencyRedisServiceDiscovery::Impl::remembered_already(
    std::string_view ns) {
    std::lock_guard const lock{mutex};
    auto const found = namespaces.find(ns);
    if (found == namespaces.end()) return nullptr;
    found->second->last_use = ++last_use;
    return found->second;
}

std::shared_ptr<Remembered> ConsistencyRedisServiceDiscovery::Impl::take_longest_unused() {
    for (auto const& [ns, known] : namespaces) {
        if (readable_namespaces.was_read(ns)) known->last_use = ++last_use;
    }
    auto const longest = std::ranges::min_element(
        namespaces, {}, [](auto const& entry) { return entry.second->last_use; });
    auto taken = std::move(longest->second);
    readable_namespaces.remove(longest->first);
    namespaces.erase(longest);
    return taken;
}

Result<std::vector<std::string>> ConsistencyRedisServiceDiscovery::Impl::services(
    std::string_view ns) {
    auto const found = remembered(ns);
    if (found.has_error()) return found.error();
    auto const& known = *found;
    auto const started = known->listen();
    if (started.has_error()) return started.error();
    auto const names = known->services->names(core->deadline());
    if (names.has_error()) return names.error();
    if (*names) return **names;
    return answer_of([&] { return asking.services(ns); });
}

bool ConsistencyRedisServiceDiscovery::Impl::is_full(Remembered const& known,
                                                     std::string_view service) const {
    auto const& directory = *known.directory;
    return directory.size() >= options.max_services && !directory.find(service);
}

/// Of a service that is watched from now on, if it was not before.
Result<Snapshot> ConsistencyRedisServiceDiscovery::Impl::loaded(Remembered& known,
                                                                std::string_view ns,
                                                                std::string_view service) {
    live::ServiceState const state{known.directory->use(std::string{service}), options.reads};
    auto snapshot = state.instances();
    if (snapshot.has_error()) return snapshot;
    begin_to_use(known, ns, state.use->service());
    return snapshot;
}

Result<DiscoveredInstances> ConsistencyRedisServiceDiscovery::Impl::instances(
    std::string_view ns, std::string_view service) {
    validate_stored_name("service name", service);
    auto const known = remembered(ns);
    if (known.has_error()) return known.error();
    if (is_full(**known, service)) {
        return answer_of([&] { return asking.instances(ns, service); });
    }
    auto const snapshot = loaded(**known, ns, service);
    if (snapshot.has_error()) return snapshot.error();
    auto const now = redis_now();
    if (now.has_error()) return now.error();
    DiscoveredInstances found;
    found.reserve(snapshot->size());
    for (auto const& instance : *snapshot) found.push_back(discovered(instance, *snapshot, *now));
    return found;
}

Result<Snapshot> ConsistencyRedisServiceDiscovery::Impl::snapshot(std::string_view ns,
                                                                  std::string_view service) {
    validate_stored_name("service name", service);
    auto const known = remembered(ns);
    if (known.has_error()) return known.error();
    if (is_full(**known, service)) {
        auto const found = answer_of([&] { return asking.instances(ns, service); });
        if (found.has_error()) return found.error();
        return snapshot_of(std::string{service}, *found);
    }
    auto found = loaded(**known, ns, service);
    // Whoever wants an error in place of old content has its age looked at each time.
    if (found.has_error() || options.reads.on_failure == ServiceOptions::OnFailure::error) {
        return found;
    }
    auto& directory = *(*known)->directory;
    if (auto const watched = directory.find(service)) directory.find_by_name(*watched);
    return found;
}

void ConsistencyRedisServiceDiscovery::Impl::begin_to_use(Remembered& known, std::string_view ns,
                                                          live::WatchedService& watched) {
    if ((!topology && !hooked) || !known.is_first_read(watched)) return;
    auto const& service = watched.name();
    if (hooked) {
        watched.add_follower(std::make_shared<EventHook>(hooked, std::string{ns}, service));
    }
    if (!topology) return;
    std::make_shared<TopologyEdge>(topology, std::string{ns}, service, core->log())
        ->record_on(*core->callbacks());
}

Result<RedisClock::Time> ConsistencyRedisServiceDiscovery::Impl::redis_now() const {
    auto const now = time->now(core->deadline());
    if (!now) return Failure{errc::timeout, "Redis' clock was not read in time"};
    return *now;
}

/// None: it is not watched, or not there.
Result<std::optional<DiscoveredInstance>>
ConsistencyRedisServiceDiscovery::Impl::remembered_instance(std::string_view ns,
                                                            std::string_view service,
                                                            std::string_view id) {
    using None = std::optional<DiscoveredInstance>;
    validate_stored_name("service name", service);
    validate_stored_name("instance id", id);
    validate_namespace(ns);
    if (core->closed()) return redis::was_forked();
    auto const known = remembered_already(ns);
    if (!known || !known->directory->find(service)) return None{};
    live::ServiceState const state{known->directory->use(std::string{service}), options.reads};
    auto const snapshot = state.instances();
    if (snapshot.has_error()) return snapshot.error();
    auto const* const instance = snapshot->find(id);
    if (!instance) return None{};
    auto const now = redis_now();
    if (now.has_error()) return now.error();
    return std::optional{discovered(*instance, *snapshot, *now)};
}

Result<std::optional<DiscoveredInstance>> ConsistencyRedisServiceDiscovery::Impl::instance(
    std::string_view ns, std::string_view service, std::string_view id) {
    auto found = remembered_instance(ns, service, id);
    if (found.has_error() || *found) return found;
    return answer_of([&] { return asking.instance(ns, service, id); });
}

Result<std::int64_t> ConsistencyRedisServiceDiscovery::Impl::ttl(std::string_view ns,
                                                                 std::string_view service,
                                                                 std::string_view id) {
    auto const found = remembered_instance(ns, service, id);
    if (found.has_error()) return found.error();
    if (*found) return (*found)->ttl_at;
    return answer_of([&] { return asking.instance_ttl(ns, service, id); });
}

void ConsistencyRedisServiceDiscovery::Impl::stop() noexcept {
    if (hooked) hooked->stop();
    timing.stop();
    for (auto const& [ns, known] : namespaces) known->services->stop();
}

ConsistencyRedisServiceDiscovery::ConsistencyRedisServiceDiscovery(Client const& client,
                                                                   ConsistencyOptions options)
    : ConsistencyRedisServiceDiscovery(client, std::make_shared<RedisServiceTopology>(client),
                                       options) {}

ConsistencyRedisServiceDiscovery::ConsistencyRedisServiceDiscovery(
    Client const& client, std::shared_ptr<ServiceTopology> topology, ConsistencyOptions options)
    : impl_(std::make_shared<Impl>(client, std::move(topology), options)) {}

ConsistencyRedisServiceDiscovery::~ConsistencyRedisServiceDiscovery() {
    if (impl_->core->closed()) {
        // The parent's threads may have been inside when this process was forked.
        static_cast<void>(new (std::nothrow) std::shared_ptr{std::move(impl_)});
        return;
    }
    impl_->stop();
}

Snapshot ConsistencyRedisServiceDiscovery::snapshot(std::string_view ns, std::string_view service) {
    if (auto known = impl_->readable_namespaces.instances(ns, service)) [[likely]]
        return *std::move(known);
    return outcome(impl_->snapshot(ns, service));
}
Snapshot ConsistencyRedisServiceDiscovery::snapshot(std::string_view ns, std::string_view service,
                                                    std::error_code& error) {
    if (auto known = impl_->readable_namespaces.instances(ns, service)) [[likely]] {
        error.clear();
        return *std::move(known);
    }
    return outcome(impl_->snapshot(ns, service), error);
}

std::vector<std::string> ConsistencyRedisServiceDiscovery::services(std::string_view ns) {
    return outcome(impl_->services(ns));
}
std::vector<std::string> ConsistencyRedisServiceDiscovery::services(std::string_view ns,
                                                                    std::error_code& error) {
    return outcome(impl_->services(ns), error);
}

DiscoveredInstances ConsistencyRedisServiceDiscovery::instances(std::string_view ns,
                                                                std::string_view service) {
    return outcome(impl_->instances(ns, service));
}
DiscoveredInstances ConsistencyRedisServiceDiscovery::instances(std::string_view ns,
                                                                std::string_view service,
                                                                std::error_code& error) {
    return outcome(impl_->instances(ns, service), error);
}

std::optional<DiscoveredInstance> ConsistencyRedisServiceDiscovery::instance(
    std::string_view ns, std::string_view service, std::string_view instance_id) {
    return outcome(impl_->instance(ns, service, instance_id));
}
std::optional<DiscoveredInstance> ConsistencyRedisServiceDiscovery::instance(
    std::string_view ns, std::string_view service, std::string_view instance_id,
    std::error_code& error) {
    return outcome(impl_->instance(ns, service, instance_id), error);
}

std::int64_t ConsistencyRedisServiceDiscovery::instance_ttl(std::string_view ns,
                                                            std::string_view service,
                                                            std::string_view instance_id) {
    return outcome(impl_->ttl(ns, service, instance_id));
}
std::int64_t ConsistencyRedisServiceDiscovery::instance_ttl(std::string_view ns,
                                                            std::string_view service,
                                                            std::string_view instance_id,
                                                            std::error_code& error) {
    return outcome(impl_->ttl(ns, service, instance_id), error);
}

}  // namespace rollcall::cosky
