#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <utility>

#include "registry/lanes.hpp"
#include "registry/outcome.hpp"
#include "registry/script_calls.hpp"
#include "registry/sweeper.hpp"
#include "streaming/event_text.hpp"
#include "streaming/heartbeat_batch.hpp"
#include "streaming/instance_names.hpp"
#include "streaming/registry_lua_script_executor.hpp"
#include "streaming/streaming_port.hpp"

#include "rollcall/streaming/instance_entry_codec.hpp"
#include "rollcall/streaming/service_provider.hpp"

namespace rollcall::streaming {
namespace {

// Between two looks at the clock.
constexpr std::size_t registrations_per_round = 2'048;

ServiceProviderConfig checked(ServiceProviderConfig config, HeartbeatConfig const& heartbeat) {
    validate(config, heartbeat);
    return config;
}

HeartbeatStateManager::Time now() {
    return std::chrono::duration_cast<HeartbeatStateManager::Time>(
        std::chrono::steady_clock::now().time_since_epoch());
}

std::shared_ptr<LayoutPort> port_of(std::shared_ptr<redis::ClientCore> core,
                                    ServiceProviderConfig const& config) {
    StreamingPortOptions options;
    options.prefix = config.key_prefix;
    options.lease = config.heartbeat_timeout;
    return make_streaming_port(std::move(core), options);
}

bool has_passed(Deadline deadline) { return std::chrono::steady_clock::now() >= deadline; }

using Lanes = rollcall::Lanes<OwnInstances::Key>;

Failure held_up(std::string_view what, OwnInstances::Key const& key) {
    return {errc::timeout,
            subject(what, key.first, key.second) + ": an earlier operation on it goes on"};
}

/// Registrations of instances that a batch found gone, each with the lane of its instance.
class Registrations {
public:
    explicit Registrations(HeartbeatBatch& batch) : batch_(batch) {}

    void add(std::size_t index, Lanes::Pass pass) {
        auto instance = batch_.to_register(index);
        if (!instance) return;
        calls_.push_back(register_call(*instance));
        held_.push_back({std::move(pass), index, *std::move(instance)});
    }

    Task<void> send(RegistryLuaScriptExecutor const& scripts, Deadline deadline) {
        if (calls_.empty()) co_return;
        auto const outcomes = co_await scripts.execute_register(calls_, deadline);
        for (std::size_t i = 0; i < held_.size(); ++i) {
            batch_.reregistered(held_[i].index, held_[i].instance, outcomes[i]);
        }
    }

private:
    struct Held {
        Lanes::Pass pass;
        std::size_t index;
        ServiceInstance instance;
    };

    HeartbeatBatch& batch_;
    std::vector<RegisterCall> calls_;
    std::vector<Held> held_;  // One for each call.
};

Task<void> register_one(RegistryLuaScriptExecutor const& scripts, Lanes& lanes,
                        HeartbeatBatch& batch, OwnInstances::Key key, std::size_t index,
                        Deadline deadline) {
    auto pass = co_await lanes.enter(std::move(key), deadline);
    if (!pass) {
        batch.not_reregistered(index);
        co_return;
    }
    Registrations one{batch};
    one.add(index, *std::move(pass));
    co_await one.send(scripts, deadline);
}

Task<void> register_again(RegistryLuaScriptExecutor const& scripts, Lanes& lanes,
                          HeartbeatBatch& batch, std::span<OwnInstances::Key const> lost,
                          Deadline deadline) {
    // One that has to wait holds nothing meanwhile, so that nobody waits for it.
    std::vector<std::size_t> busy;
    for (std::size_t done = 0; done < lost.size() && !has_passed(deadline);) {
        auto const end = done + std::min(registrations_per_round, lost.size() - done);
        Registrations some{batch};
        for (; done < end; ++done) {
            if (auto pass = lanes.try_enter(lost[done])) {
                some.add(done, *std::move(pass));
            } else {
                busy.push_back(done);
            }
        }
        co_await some.send(scripts, deadline);
    }
    for (auto const index : busy) {
        co_await register_one(scripts, lanes, batch, lost[index], index, deadline);
    }
}

/// Heartbeats, then registrations of what they found gone.
Task<Result<void>> beat(RegistryLuaScriptExecutor const& scripts, Lanes& lanes,
                        HeartbeatBatch& batch, bool reregister, Deadline deadline) {
    auto const replies = co_await scripts.execute_heartbeat_update(batch.calls(), deadline);
    auto const lost = batch.take(replies, reregister);
    co_await register_again(scripts, lanes, batch, lost, deadline);
    co_return Result<void>{};
}

}  // namespace

struct RedisServiceProvider::Impl {
    Impl(std::shared_ptr<redis::ClientCore> client, ServiceProviderConfig const& given,
         HeartbeatConfig const& heartbeat)
        : core(std::move(client)),
          config(checked(given, heartbeat)),
          scripts(core, RegistryKeys{config.key_prefix}, config.heartbeat_timeout),
          states(std::make_shared<HeartbeatStateManager>(heartbeat)),
          port(port_of(core, config)) {}

    void require_running() const {
        if (!running) throw std::logic_error{"the service provider is not running"};
    }

    Result<ChangeResult> add(ServiceInstance const& instance);
    Result<ChangeResult> remove(ServiceInstance const& instance);
    std::optional<ServiceInstance> farewell(ServiceInstance const& instance,
                                            InstanceNames const& names) const;
    Task<Result<Written>> store(ServiceInstance const& stored, Deadline deadline);
    Task<Result<Written>> withdraw(DeregisterCall const& call, Deadline deadline);
    std::vector<HeartbeatResult> beats(std::span<ServiceInstance const> instances);
    std::unique_ptr<Sweeper> started_sweeper() const;
    void start();
    void stop();

    std::shared_ptr<redis::ClientCore> core;
    ServiceProviderConfig config;
    RegistryLuaScriptExecutor scripts;
    std::shared_ptr<HeartbeatStateManager> states;
    std::shared_ptr<LayoutPort> port;
    OwnInstances own;
    Lanes lanes;  // On the I/O thread only.
    std::atomic<bool> running = false;

    std::mutex lifecycle;              // Guards what is below. Nothing waits while it is held.
    std::unique_ptr<Sweeper> sweeper;  // While running.
};

Result<ChangeResult> RedisServiceProvider::Impl::add(ServiceInstance const& instance) {
    require_running();
    auto const stored = InstanceEntryCodec::validated(instance);
    auto const deadline = core->deadline();
    auto const written = core->run([&] { return store(stored, deadline); });
    if (written.has_error()) return written.error();
    return ChangeResult{written->existed, written->announced, stored.instance_id};
}

Task<Result<Written>> RedisServiceProvider::Impl::store(ServiceInstance const& stored,
                                                        Deadline deadline) {
    OwnInstances::Key const key{stored.service_name, stored.instance_id};
    auto const pass = co_await lanes.enter(key, deadline, LaneUse::registration(stored));
    if (!pass) co_return held_up("register", key);
    auto const call = register_call(stored);
    auto written = co_await scripts.execute_register(call, deadline);
    if (written.has_value()) {
        own.put(stored);
        states->mark_registered(stored.service_name, stored.instance_id, stored.metadata, now());
    } else if (is_unanswered(written.error()) && own.find(key.first, key.second)) {
        own.put(stored);  // It may be what is stored, and what is lost later.
    }
    co_return written;
}

Task<Result<Written>> RedisServiceProvider::Impl::withdraw(DeregisterCall const& call,
                                                           Deadline deadline) {
    OwnInstances::Key const key{call.service, call.id};
    auto const pass = co_await lanes.enter(key, deadline, LaneUse::removal());
    if (!pass) co_return held_up("deregister", key);
    // Also what was registered while this waited.
    own.erase(call.service, call.id);
    auto written = co_await scripts.execute_deregister(call, deadline);
    if (written.has_value()) states->forget(call.service, call.id);
    co_return written;
}

/// What subscribers are told of an instance that is removed. Names are enough to remove it: lists
/// hold instances of peers that no registration of ours accepts, and those must be removable, too.
std::optional<ServiceInstance> RedisServiceProvider::Impl::farewell(
    ServiceInstance const& instance, InstanceNames const& names) const {
    if (!instance.host.empty()) {
        try {
            return InstanceEntryCodec::validated(instance);
        } catch (std::invalid_argument const&) {
            return own.find(names.service, names.id);
        }
    }
    return own.find(names.service, names.id);
}

Result<ChangeResult> RedisServiceProvider::Impl::remove(ServiceInstance const& instance) {
    require_running();
    if (core->closed()) return Failure{errc::closed, "this is a forked process"};
    auto const names = stored_names(instance);
    DeregisterCall call;
    call.service = names.service;
    call.id = names.id;
    auto const told = farewell(instance, names);
    call.event_tail = event_tail(call.service, call.id, told ? &*told : nullptr);
    // Whatever comes of the call, no later heartbeat registers it again.
    own.erase(call.service, call.id);
    auto const deadline = core->deadline();
    auto const written = core->run([&] { return withdraw(call, deadline); });
    if (written.has_error()) return written.error();
    return ChangeResult{written->existed, written->announced, call.id};
}

std::vector<HeartbeatResult> RedisServiceProvider::Impl::beats(
    std::span<ServiceInstance const> instances) {
    std::vector<HeartbeatResult> results;
    if (!running) {
        results.assign(instances.size(), HeartbeatResult::not_running);
        return results;
    }
    if (core->closed()) {
        results.assign(instances.size(), HeartbeatResult::failed);
        return results;
    }
    results.reserve(instances.size());
    auto const deadline = core->deadline();
    while (results.size() < instances.size() && (results.empty() || !has_passed(deadline))) {
        HeartbeatBatch batch{*states, own, core->log(), now()};
        batch.prepare(instances.subspan(results.size()));
        if (!batch.calls().empty()) {
            auto const sent = core->run(
                [&] { return beat(scripts, lanes, batch, config.auto_reregister, deadline); });
            if (sent.has_error()) {
                core->log().write(LogLevel::warning, "heartbeat", sent.error().detail());
            }
        }
        auto const some = std::move(batch).results();
        results.insert(results.end(), some.begin(), some.end());
    }
    if (auto const unsent = instances.size() - results.size(); unsent > 0) {
        core->log().write(LogLevel::warning, "heartbeat",
                          std::to_string(unsent) +
                              " heartbeats of a batch were not sent within the request timeout");
        results.resize(instances.size(), HeartbeatResult::failed);
    }
    return results;
}

std::unique_ptr<Sweeper> RedisServiceProvider::Impl::started_sweeper() const {
    auto forget = [removed = states](SweepReport const& report) {
        for (auto const& service : report.services) {
            for (auto const& id : service.removed) removed->forget(service.service, id);
        }
    };
    SweepSchedule const schedule{config.cleanup_delay, config.cleanup_period};
    auto result = std::make_unique<Sweeper>(core, port, schedule, std::move(forget));
    result->start();
    return result;
}

void RedisServiceProvider::Impl::start() {
    // In a forked child another thread may have held the mutex.
    if (core->closed()) {
        running = true;
        return;
    }
    std::lock_guard const lock{lifecycle};
    if (!sweeper) sweeper = started_sweeper();
    running = true;
}

void RedisServiceProvider::Impl::stop() {
    if (core->closed()) {
        running = false;
        return;
    }
    std::unique_ptr<Sweeper> ending;
    {
        std::lock_guard const lock{lifecycle};
        running = false;
        ending = std::move(sweeper);
    }
    // Its end may have to wait for the I/O thread, whose log callback may be about to start or stop
    // this provider, too: so it comes without the mutex. On the I/O thread itself it does not wait.
}

RedisServiceProvider::RedisServiceProvider(Client const& client, ServiceProviderConfig config,
                                           HeartbeatConfig heartbeat)
    : impl_(std::make_shared<Impl>(client.core(), config, heartbeat)) {}

RedisServiceProvider::~RedisServiceProvider() { impl_->stop(); }

ChangeResult RedisServiceProvider::register_instance(ServiceInstance const& instance) {
    return outcome(impl_->add(instance));
}
ChangeResult RedisServiceProvider::register_instance(ServiceInstance const& instance,
                                                     std::error_code& error) {
    return outcome(impl_->add(instance), error);
}

ChangeResult RedisServiceProvider::deregister_instance(ServiceInstance const& instance) {
    return outcome(impl_->remove(instance));
}
ChangeResult RedisServiceProvider::deregister_instance(ServiceInstance const& instance,
                                                       std::error_code& error) {
    return outcome(impl_->remove(instance), error);
}

HeartbeatResult RedisServiceProvider::send_heartbeat(ServiceInstance const& instance) {
    return impl_->beats({&instance, 1}).front();
}

std::vector<HeartbeatResult> RedisServiceProvider::batch_send_heartbeats(
    std::span<ServiceInstance const> instances) {
    return impl_->beats(instances);
}

void RedisServiceProvider::start() { impl_->start(); }
void RedisServiceProvider::stop() { impl_->stop(); }
bool RedisServiceProvider::is_running() const noexcept { return impl_->running; }
ServiceProviderConfig const& RedisServiceProvider::config() const noexcept { return impl_->config; }

}  // namespace rollcall::streaming
