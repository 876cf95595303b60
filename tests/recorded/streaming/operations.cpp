#include "recorded/operations.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <stdexcept>

#include "recorded/streaming/inputs.hpp"
#include "redis/client_core.hpp"
#include "streaming/event_text.hpp"
#include "streaming/registry_lua_script_executor.hpp"
#include "support/heard_changes.hpp"

#include "rollcall/streaming/instance_entry_codec.hpp"
#include "rollcall/streaming/weighted_round_robin_load_balancer.hpp"

namespace rollcall::test {

namespace {

using namespace streaming;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr milliseconds patience = seconds{10};
constexpr milliseconds recorded_latency{12};
constexpr std::string_view ms_mark = "{{ms}}";
constexpr std::string_view message_behind =
    R"({"action":"REMOVED","instanceId":"behind","instance":{"host":"h","port":1}})";

std::string text(HeartbeatResult result) {
    switch (result) {
        case HeartbeatResult::not_due:
            return "not_due";
        case HeartbeatResult::alive:
            return "alive";
        case HeartbeatResult::metadata_updated:
            return "metadata_updated";
        case HeartbeatResult::reregistered:
            return "reregistered";
        case HeartbeatResult::gone:
            return "gone";
        case HeartbeatResult::failed:
            return "failed";
        case HeartbeatResult::not_running:
            return "not_running";
    }
    return "another result";
}

std::string in_brackets(std::vector<std::string> const& parts) {
    std::string out;
    for (auto const& part : parts) out += (out.empty() ? "" : ", ") + part;
    return '[' + out + ']';
}

ServiceProviderConfig provider_config(golden::FilePlan const& plan, bool auto_reregister) {
    ServiceProviderConfig config;
    config.heartbeat_timeout = seconds{plan.lease};
    config.auto_reregister = auto_reregister;
    return config;
}

HeartbeatConfig heartbeat_config(golden::FilePlan const& plan) {
    HeartbeatConfig config;
    config.heartbeat_interval = milliseconds{plan.heartbeat_interval};
    config.enable_metadata_change_detection = plan.metadata_change_detection;
    config.metadata_update_interval = seconds{plan.metadata_update_interval};
    return config;
}

ServiceConsumerConfig consumer_config(golden::FilePlan const& plan) {
    ServiceConsumerConfig config;
    config.heartbeat_timeout = seconds{plan.lease};
    return config;
}

NamingServiceConfig naming_config(golden::FilePlan const& plan) {
    NamingServiceConfig config;
    config.heartbeat_timeout = seconds{plan.lease};
    return config;
}

/// The service that the recorded script calls and reads are about.
std::string recorded_service(golden::Step const& step) {
    auto const prefix = std::string{golden::recorded_prefix} + ":services:";
    for (auto const& command : step.commands) {
        for (auto const& word : command.words) {
            if (!word.starts_with(prefix)) continue;
            auto const rest = word.substr(prefix.size());
            return rest.substr(0, rest.find(':'));
        }
    }
    throw std::logic_error{"no service in the step " + step.name};
}

/// What a caller was told.
struct Outcome {
    std::string text;
    /// For registrations and deregistrations: whether the instance was there before.
    std::optional<bool> existed = {};
};

class StreamingOperations final : public Operations {
public:
    StreamingOperations(RedisServer const& with, golden::FilePlan const& of, bool auto_reregister)
        : plan_(of),
          client_(with.url()),
          provider_(client_, provider_config(plan_, auto_reregister), heartbeat_config(plan_)),
          consumer_(client_, consumer_config(plan_)),
          naming_(client_, naming_config(plan_), heartbeat_config(plan_)),
          reporter_(client_),
          redis_(with) {
        provider_.start();
        consumer_.start();
    }

    void prepare(golden::Step const& step, golden::StepPlan const& how,
                 golden::LiveKeys const& state) override {
        if (!how.known_state && !how.known_input) return;
        for (auto const& input : recorded_inputs(step, how, state)) {
            auto const known = how.known_input
                                   ? input
                                   : stored_instance(state, input.service_name, input.instance_id);
            provider_.register_instance(known);
            if (how.known_heartbeat) provider_.send_heartbeat(known);
        }
    }

    std::string play(golden::Step const& step, golden::StepPlan const& how,
                     golden::LiveKeys const& state) override {
        try {
            auto outcome = do_play(step, how, state);
            if (outcome.existed) check_existed(*outcome.existed, step, how, state, outcome.text);
            return outcome.text;
        } catch (std::invalid_argument const&) {
            return "throws invalid_argument";
        } catch (std::logic_error const&) {
            return "throws logic_error";
        }
    }

private:
    /// Adds to the text when the caller was told wrongly whether the instance was there.
    static void check_existed(bool told, golden::Step const& step, golden::StepPlan const& how,
                              golden::LiveKeys const& state, std::string& text) {
        auto input = recorded_inputs(step, how, state).at(0);
        std::replace(input.instance_id.begin(), input.instance_id.end(), ':', '_');
        auto const found =
            state.find(std::string{golden::recorded_prefix} + ":services:" + input.service_name +
                       ":instance:" + input.instance_id);
        bool const existed = found != state.end() && found->second.fields.contains("host");
        if (told != existed) {
            text += std::string{"told that the instance was "} + (existed ? "not there" : "there");
        }
    }

    RegistryAdminService& admin() { return *consumer_.admin(); }

    Outcome register_all(std::vector<ServiceInstance> const& instances, ServiceProvider& by) {
        Outcome outcome;
        for (auto const& instance : instances) {
            auto const result = by.register_instance(instance);
            if (!outcome.existed) outcome.existed = result.existed;
            if (!result.announced) outcome.text += "not announced";
        }
        return outcome;
    }

    /// What our API refuses: an instance without a host.
    Outcome register_by_script(ServiceInstance const& instance) {
        RegistryLuaScriptExecutor const scripts{
            client_.core(), RegistryKeys{golden::recorded_prefix}, seconds{plan_.lease}};
        RegisterCall call;
        call.service = instance.service_name;
        call.id = instance.instance_id;
        call.document = InstanceEntryCodec::build_instance_data(instance);
        call.event_tail = event_tail(call.service, call.id, &instance);
        auto const deadline = client_.core()->deadline();
        auto const result =
            client_.core()->run([&] { return scripts.execute_register(call, deadline); });
        return {"", result.value().existed};
    }

    Outcome deregister_all(std::vector<ServiceInstance> const& instances, ServiceProvider& by) {
        auto const result = by.deregister_instance(instances.at(0));
        return {result.announced ? "" : "not announced", result.existed};
    }

    Outcome heartbeat(std::vector<ServiceInstance> const& instances, bool wait_until_due) {
        auto result = HeartbeatResult::not_due;
        eventually(
            [&] {
                result = provider_.send_heartbeat(instances.at(0));
                return !wait_until_due || result != HeartbeatResult::not_due;
            },
            patience);
        return {text(result)};
    }

    Outcome heartbeat_batch(std::vector<ServiceInstance> const& instances) {
        std::string out;
        for (auto const result : provider_.batch_send_heartbeats(instances)) {
            out += (out.empty() ? "" : ", ") + text(result);
        }
        return {out};
    }

    Outcome admin_cleanup(golden::Step const& step) {
        std::string out;
        for (auto const& command : step.commands) {
            // EVALSHA sha1 1 heartbeats service now timeout prefix
            if (command.words[0] != "EVALSHA") continue;
            milliseconds const timeout{std::stoll(command.words.at(6))};
            for (auto const& [service, count] : admin().cleanup_expired_instances(timeout)) {
                out += (out.empty() ? "" : ", ") + service + '=' + std::to_string(count);
            }
        }
        return {'{' + out + '}'};
    }

    /// A provider's own housekeeping, begun at once instead of after a minute.
    Outcome provider_cleanup() {
        auto config = provider_config(plan_, true);
        config.cleanup_delay = milliseconds{1};
        config.cleanup_period = milliseconds{20};
        RedisServiceProvider other{client_, config, heartbeat_config(plan_)};
        other.start();
        auto const index = std::string{golden::recorded_prefix} + ":services";
        bool const done =
            eventually([&] { return redis_.must({"EXISTS", index}).integer == 0; }, patience);
        other.stop();
        return {done ? "" : "no cleanup"};
    }

    Outcome admin_details(golden::Step const& step) {
        auto const details = admin().service_details(recorded_service(step));
        return {std::to_string(details.total_instances) + '/' +
                std::to_string(details.healthy_instances) + '/' +
                std::to_string(details.enabled_instances)};
    }

    Outcome admin_metrics(golden::Step const& step) {
        auto const& key = step.commands.at(0).words.at(1);
        return {
            notation(admin().instance_metrics(recorded_service(step), golden::instance_of(key)))};
    }

    Outcome report(golden::Step const& step, std::string const& how) {
        auto const service = recorded_service(step);
        auto const id = golden::instance_of(step.commands.at(0).words.at(1));
        if (how == "report_increment") reporter_.increment_inflight(service, id);
        if (how == "report_latency") reporter_.record_latency(service, id, recorded_latency);
        if (how == "report_failure") reporter_.record_outcome(service, id, false);
        return {};
    }

    Outcome admin_health() {
        auto const health = admin().registry_health();
        AdminValues values;
        values["activeInstances"] = static_cast<std::int64_t>(health.active_instances);
        values["healthyInstances"] = static_cast<std::int64_t>(health.healthy_instances);
        values["healthyRate"] = health.healthy_rate;
        values["totalInstances"] = static_cast<std::int64_t>(health.total_instances);
        values["totalServices"] = static_cast<std::int64_t>(health.total_services);
        return {notation(values)};
    }

    Outcome register_stopped() {
        RedisServiceProvider other{client_, provider_config(plan_, true), heartbeat_config(plan_)};
        other.start();
        other.stop();
        ServiceInstance instance;
        instance.service_name = "orders";
        instance.instance_id = "late";
        instance.host = "10.0.0.5";
        instance.port = 1;
        other.register_instance(instance);
        return {"registered"};
    }

    Outcome register_blank() {
        ServiceInstance instance;
        instance.service_name = " ";
        instance.instance_id = "b-1";
        instance.host = "10.0.0.5";
        instance.port = 1;
        provider_.register_instance(instance);
        return {"registered"};
    }

    Outcome list(golden::Step const& step, std::string const& how) {
        auto const service = recorded_service(step);
        if (how == "list") return {notation(consumer_.all_instances(service))};
        if (how == "list_healthy") return {notation(consumer_.healthy_instances(service))};
        auto const filters = recorded_filters(step);
        if (how == "list_by_metadata") {
            return {notation(consumer_.instances_by_metadata(service, filters.metadata))};
        }
        if (how == "list_by_filters") {
            return {notation(
                consumer_.instances_by_filters(service, filters.metadata, filters.metrics))};
        }
        return {notation(
            consumer_.healthy_instances_by_filters(service, filters.metadata, filters.metrics))};
    }

    Outcome naming_choose(golden::Step const& step) {
        naming_.start();
        auto const service = recorded_service(step);
        auto const candidates = naming_.healthy_instances(service);
        WeightedRoundRobinLoadBalancer balancer;
        auto const* const chosen = balancer.choose(service, candidates, {});
        return {chosen == nullptr ? "null" : in_one_word(*chosen)};
    }

    /// As `[orders added o-1 http://… all=[o-1, o-2], …]`.
    static std::string notation_of(std::vector<HeardChange> const& changes) {
        std::vector<std::string> parts;
        for (auto const& change : changes) {
            auto part = change.service + ' ' + std::string{value(change.action)} + ' ';
            part += change.instance ? in_one_word(*change.instance) : "null";
            parts.push_back(part + " all=" + in_brackets(change.all));
        }
        return in_brackets(parts);
    }

    static std::string in_one_word(ServiceInstance const& instance) {
        auto const bracketed = notation({instance});
        return bracketed.substr(1, bracketed.size() - 2);
    }

    /// What the listener was told, that many calls at least unless they do not come.
    std::vector<HeardChange> heard(std::size_t count) {
        eventually([&] { return heard_.size() >= count; }, patience);
        return heard_.take();
    }

    /// What the listener is told first; nothing if it is subscribed already.
    std::vector<HeardChange> be_subscribed(golden::LiveKeys const& state) {
        if (std::exchange(subscribed_, true)) return {};
        consumer_.subscribe("orders", heard_.listener());
        std::size_t healthy = 0;
        for (auto const& [key, live] : state) {
            auto const field = live.fields.find("healthy");
            bool const is_orders = key.find(":orders:instance:") != std::string::npos;
            if (is_orders && field != live.fields.end() && field->second == "true") ++healthy;
        }
        return heard(healthy);
    }

    /// The call, and what the listener was told because of it.
    template <class Call>
    Outcome heard_from(golden::LiveKeys const& state, std::size_t count, Call call) {
        be_subscribed(state);
        auto outcome = call();
        outcome.text += notation_of(heard(count));
        return outcome;
    }

    Outcome publish(golden::Step const& step) {
        for (auto const& [channel, recorded] : step.messages) {
            auto payload = recorded;
            auto const now = std::to_string(golden::redis_time(redis_));
            for (auto at = payload.find(ms_mark); at != std::string::npos;
                 at = payload.find(ms_mark, at)) {
                payload.replace(at, ms_mark.size(), now);
            }
            redis_.must({"PUBLISH", channel, payload});
        }
        return {};
    }

    /// That nothing is told of it shows when a message behind it is.
    Outcome ignored_payload(golden::Step const& step, golden::LiveKeys const& state) {
        be_subscribed(state);
        publish(step);
        redis_.must({"PUBLISH", step.messages.at(0).channel, std::string{message_behind}});
        auto const told = [&] {
            auto const changes = heard_.all();
            return !changes.empty() && changes.back().instance &&
                   changes.back().instance->instance_id == "behind";
        };
        if (!eventually(told, patience)) return {"the message behind it was not told"};
        auto changes = heard_.take();
        changes.pop_back();
        return {notation_of(changes)};
    }

    Outcome unsubscribe(golden::LiveKeys const& state) {
        be_subscribed(state);
        consumer_.unsubscribe("orders", heard_.listener());
        subscribed_ = false;
        auto const channel = std::string{golden::recorded_prefix} + ":services:orders:changes";
        bool const ended = eventually(
            [&] { return redis_.must({"PUBSUB", "NUMSUB", channel}).elements.at(1).integer == 0; },
            patience);
        return {ended ? "" : "still subscribed"};
    }

    Outcome listen(golden::Step const& step, golden::StepPlan const& how,
                   golden::LiveKeys const& state) {
        auto const& name = how.play;
        auto const inputs = [&] { return recorded_inputs(step, how, state); };
        if (name == "subscribe") return {notation_of(be_subscribed(state))};
        if (name == "unsubscribe") return unsubscribe(state);
        if (name == "heard_register") {
            return heard_from(state, 1, [&] { return register_all(inputs(), provider_); });
        }
        if (name == "heard_deregister") {
            return heard_from(state, 1, [&] { return deregister_all(inputs(), provider_); });
        }
        if (name == "payload") return heard_from(state, 1, [&] { return publish(step); });
        if (name == "payload_ignored") return ignored_payload(step, state);
        throw std::logic_error{"unknown operation " + name};
    }

    Outcome do_play(golden::Step const& step, golden::StepPlan const& how,
                    golden::LiveKeys const& state) {
        auto const& name = how.play;
        auto const inputs = [&] { return recorded_inputs(step, how, state); };
        if (name == "start") return {consumer_.is_running() && provider_.is_running() ? "" : "no"};
        if (name == "register") return register_all(inputs(), provider_);
        if (name == "register_by_script") return register_by_script(inputs().at(0));
        if (name == "register_blank") return register_blank();
        if (name == "register_stopped") return register_stopped();
        if (name == "heartbeat") return heartbeat(inputs(), false);
        if (name == "heartbeat_when_due") return heartbeat(inputs(), true);
        if (name == "heartbeat_batch") return heartbeat_batch(inputs());
        if (name == "deregister") return deregister_all(inputs(), provider_);
        if (name.starts_with("list")) return list(step, name);
        if (name == "services") return {in_brackets(consumer_.list_services())};
        if (name == "admin_cleanup") return admin_cleanup(step);
        if (name == "provider_cleanup") return provider_cleanup();
        if (name == "naming_start") return naming_.start(), Outcome{};
        if (name == "naming_register") return naming_.start(), register_all(inputs(), naming_);
        if (name == "naming_choose") return naming_choose(step);
        if (name == "naming_deregister") return naming_.start(), deregister_all(inputs(), naming_);
        if (name == "admin_services") return {in_brackets(admin().all_services())};
        if (name == "admin_details") return admin_details(step);
        if (name == "admin_metrics") return admin_metrics(step);
        if (name == "admin_health") return admin_health();
        if (name.starts_with("report_")) return report(step, name);
        return listen(step, how, state);
    }

    golden::FilePlan const& plan_;
    Client client_;
    RedisServiceProvider provider_;
    RedisServiceConsumer consumer_;
    RedisNamingService naming_;
    RedisClientMetricsReporter reporter_;
    RedisClient redis_;
    HeardChanges heard_;
    bool subscribed_ = false;
};

}  // namespace

std::unique_ptr<Operations> make_streaming_operations(RedisServer const& server,
                                                      golden::FilePlan const& plan,
                                                      bool auto_reregister) {
    return std::make_unique<StreamingOperations>(server, plan, auto_reregister);
}

}  // namespace rollcall::test
