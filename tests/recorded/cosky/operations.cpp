#include "recorded/operations.hpp"

#include <algorithm>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>

#include "cosky/discovery_redis_scripts.hpp"
#include "cosky/expiry_sweep.hpp"
#include "cosky/instance_reader.hpp"
#include "recorded/cosky/hearing.hpp"
#include "recorded/cosky/inputs.hpp"
#include "redis/client_core.hpp"

namespace rollcall::cosky::test {

namespace {

using rollcall::test::eventually;
using rollcall::test::Operations;
using rollcall::test::RedisClient;
using rollcall::test::RedisServer;

RegistryProperties properties_of(golden::FilePlan const& plan) {
    RegistryProperties properties;
    properties.instance_ttl = std::chrono::seconds{plan.lease};
    return properties;
}

std::string text(bool on) { return on ? "true" : "false"; }

std::string in_brackets(std::vector<std::string> const& parts) {
    std::string out;
    for (auto const& part : parts) out += (out.empty() ? "" : ", ") + part;
    return '[' + out + ']';
}

std::string text(Renewal renewal) {
    switch (renewal) {
        case Renewal::renewed:
            return "renewed";
        case Renewal::registered_again:
            return "registered_again";
        case Renewal::reclaimed:
            return "reclaimed";
        case Renewal::released:
            return "released";
        case Renewal::removed:
            return "removed";
        case Renewal::failed:
            return "failed";
    }
    return "another result";
}

class CoskyOperations final : public Operations {
public:
    CoskyOperations(RedisServer const& server, golden::FilePlan const& plan)
        : client_(server.url()),
          registry_(client_, properties_of(plan)),
          discovery_(client_),
          statistic_(client_),
          // The recorded program never set its namespace and had no instance of its own.
          topology_(std::make_shared<RedisServiceTopology>(client_, NamespacedContext{"cosky"})),
          hearing_(client_, topology_),
          cached_(std::make_shared<ConsistencyRedisServiceDiscovery>(client_, topology_)),
          namespaces_(client_),
          redis_(server) {}

    void prepare(golden::Step const& step, golden::StepPlan const& plan,
                 golden::LiveKeys const& state) override {
        if (!plan.known_input && !plan.known_deregistered) return;
        auto const input = recorded_input(step, plan, state);
        registry_.register_instance(recorded_ns, input);
        if (!plan.known_deregistered) return;
        // So that the answer is no: what the recorded program then forgets to forget.
        redis_.must({"FLUSHALL"});
        registry_.deregister(recorded_ns, input);
    }

    std::string play(golden::Step const& step, golden::StepPlan const& plan,
                     golden::LiveKeys const& state) override {
        auto const found = plays().find(plan.play);
        if (found == plays().end()) throw std::runtime_error{"unknown operation " + plan.play};
        try {
            return (this->*found->second)({step, plan, state});
        } catch (std::invalid_argument const&) {
            return "throws invalid_argument";
        }
    }

private:
    struct Call {
        golden::Step const& step;
        golden::StepPlan const& plan;
        golden::LiveKeys const& state;

        ServiceInstance input() const { return recorded_input(step, plan, state); }
        Names names() const { return recorded_names(step, plan); }
        /// The n-th argument of the recorded script call.
        std::string argument(std::size_t n) const { return script_call(step).at(4 + n); }
    };
    using Play = std::string (CoskyOperations::*)(Call const&);

    static std::map<std::string, Play, std::less<>> const& plays() {
        using Self = CoskyOperations;
        static std::map<std::string, Play, std::less<>> const all{
            {"namespace_set", &Self::namespace_set},
            {"namespace_remove", &Self::namespace_remove},
            {"namespaces", &Self::list_namespaces},
            {"set_service", &Self::set_service},
            {"remove_service", &Self::remove_service},
            {"register", &Self::register_instance},
            {"register_and_stat", &Self::register_and_stat},
            {"renew", &Self::renew},
            {"renew_round", &Self::renew_round},
            {"own_instances", &Self::own_instances},
            {"deregister", &Self::deregister},
            {"deregister_by_ids", &Self::deregister_by_ids},
            {"set_metadata", &Self::set_metadata},
            {"set_metadata_pair", &Self::set_metadata_pair},
            {"set_metadata_reserved", &Self::set_metadata_reserved},
            {"services", &Self::services},
            {"instances", &Self::instances},
            {"instance", &Self::instance},
            {"instance_ttl", &Self::instance_ttl},
            {"sweep", &Self::sweep},
            {"stat_service", &Self::stat_service},
            {"service_stats", &Self::service_stats},
            {"instance_count", &Self::instance_count},
            {"count_service", &Self::count_service},
            {"topology_add", &Self::topology_add},
            {"topology_get", &Self::topology_get},
            {"listen", &Self::listen},
            {"cached_instances", &Self::cached_instances},
            {"cached_services", &Self::cached_services},
            {"choose", &Self::choose},
            {"hear_register", &Self::hear_register},
            {"hear_set_metadata", &Self::hear_set_metadata},
            {"hear_renew", &Self::hear_renew},
            {"hear_deregister", &Self::hear_deregister},
            {"hear_set_service", &Self::hear_set_service},
            {"hear_odd_payload", &Self::hear_odd_payload},
            {"register_counted", &Self::register_counted},
        };
        return all;
    }

    std::string namespace_set(Call const&) { return text(namespaces_.set_namespace(recorded_ns)); }

    std::string namespace_remove(Call const&) {
        return text(namespaces_.remove_namespace(recorded_ns));
    }

    std::string list_namespaces(Call const&) { return in_brackets(namespaces_.namespaces()); }

    std::string set_service(Call const& call) {
        return text(registry_.set_service(recorded_ns, call.argument(0)));
    }

    std::string remove_service(Call const& call) {
        return text(registry_.remove_service(recorded_ns, call.argument(0)));
    }

    std::string register_instance(Call const& call) {
        return text(registry_.register_instance(recorded_ns, call.input()));
    }

    std::string register_and_stat(Call const& call) {
        auto told = register_instance(call);
        statistic_.stat_service(recorded_ns, call.input().service_name);
        return told;
    }

    std::string renew(Call const& call) { return text(registry_.renew(recorded_ns, call.input())); }

    std::string renew_round(Call const&) {
        std::string out;
        for (auto const& one : registry_.renew_registered(RenewProperties{}.period)) {
            out += (out.empty() ? "" : ", ") + text(one.renewal);
        }
        return out;
    }

    std::string own_instances(Call const&) {
        return std::to_string(registry_.registered_ephemeral_instances().size());
    }

    std::string deregister(Call const& call) {
        return text(registry_.deregister(recorded_ns, call.input()));
    }

    std::string deregister_by_ids(Call const& call) {
        auto const [service, id] = call.names();
        return text(registry_.deregister(recorded_ns, service, id));
    }

    std::string set_metadata(Call const& call) {
        auto const words = script_call(call.step);
        Metadata metadata;
        for (std::size_t i = 5; i + 1 < words.size(); i += 2) {
            metadata[words[i].substr(1)] = words[i + 1];
        }
        auto const [service, id] = call.names();
        return text(registry_.set_metadata(recorded_ns, service, id, metadata));
    }

    std::string set_metadata_pair(Call const& call) {
        auto const [service, id] = call.names();
        return text(registry_.set_metadata(recorded_ns, service, id, call.argument(1).substr(1),
                                           call.argument(2)));
    }

    std::string set_metadata_reserved(Call const&) {
        return text(
            registry_.set_metadata(recorded_ns, "order", "order@http#10.0.1.5#8080", "_x", "v"));
    }

    std::string services(Call const&) { return in_brackets(discovery_.services(recorded_ns)); }

    std::string instances(Call const& call) {
        return notation(discovery_.instances(recorded_ns, call.argument(0)));
    }

    std::string instance(Call const& call) {
        auto const [service, id] = call.names();
        auto const found = discovery_.instance(recorded_ns, service, id);
        return found ? notation(*found) : "null";
    }

    std::string instance_ttl(Call const& call) {
        auto const [service, id] = call.names();
        return std::to_string(discovery_.instance_ttl(recorded_ns, service, id));
    }

    std::string sweep(Call const&) {
        auto const& core = client_.core();
        DiscoveryRedisScripts const scripts{core};
        InstanceReader reader{scripts};
        ExpirySweep sweep{scripts, reader, recorded_ns};
        auto const report = core->run([&] { return sweep.run(core->deadline()); });
        std::string out;
        for (auto const& part : report.value().services) {
            out += (out.empty() ? "" : ", ") + part.service + ": " + in_brackets(part.removed);
        }
        return out;
    }

    std::string stat_service(Call const&) {
        statistic_.stat_service(recorded_ns);
        return {};
    }

    std::string service_stats(Call const&) {
        std::vector<std::string> parts;
        for (auto const& stat : statistic_.service_stats(recorded_ns)) {
            parts.push_back(stat.service_name + '=' + std::to_string(stat.instance_count));
        }
        return in_brackets(parts);
    }

    std::string instance_count(Call const&) {
        return std::to_string(statistic_.instance_count(recorded_ns));
    }

    std::string count_service(Call const&) {
        return std::to_string(statistic_.count_service(recorded_ns));
    }

    std::string topology_add(Call const&) {
        topology_->add_topology(recorded_ns, "order");
        return {};
    }

    std::string topology_get(Call const&) {
        std::string out;
        for (auto const& [consumer, producers] : topology_->topology(recorded_ns)) {
            out += (out.empty() ? "" : ", ") + consumer + '=' +
                   in_brackets({producers.begin(), producers.end()});
        }
        return '{' + out + '}';
    }

    std::string listen(Call const&) {
        return hearing_.listen_to(listened) ? "" : "no confirmation";
    }

    /// Whether memory has what Redis has; a lease may end there as it was read before a renewal,
    /// never later, and is then given as Redis has it.
    static bool agree(DiscoveredInstances& remembered, DiscoveredInstances const& read) {
        auto const same = [](DiscoveredInstance& one, DiscoveredInstance const& other) {
            bool const possible = one.instance == other.instance && one.ttl_at <= other.ttl_at + 1;
            one.ttl_at = other.ttl_at;
            return possible;
        };
        return std::equal(remembered.begin(), remembered.end(), read.begin(), read.end(), same);
    }

    std::string cached_instances(Call const&) {
        DiscoveredInstances found;
        bool const same = eventually([&] {
            found = cached_->instances(recorded_ns, listened);
            return agree(found, discovery_.instances(recorded_ns, listened));
        });
        await_topology();
        return same ? notation(found) : "not what Redis has";
    }

    /// By the design's default balancer. The lease is Redis': memory may know an earlier one.
    std::string choose(Call const&) {
        BinaryWeightRandomLoadBalancer balancer{cached_};
        std::optional<DiscoveredInstance> read;
        bool const same = eventually([&] {
            auto const choice = balancer.choose(recorded_ns, listened);
            if (!choice) return false;
            read = discovery_.instance(recorded_ns, listened, choice->instance_id);
            return read && read->instance == *choice;
        });
        await_topology();
        return same ? notation(*read) : "not what Redis has";
    }

    /// What the first reading call causes to be recorded is recorded then.
    void await_topology() {
        std::promise<void> recorded;
        client_.core()->callbacks()->post([&] { recorded.set_value(); });
        recorded.get_future().wait();
    }

    std::string cached_services(Call const&) {
        std::vector<std::string> names;
        bool const same = eventually([&] {
            names = cached_->services(recorded_ns);
            return names == discovery_.services(recorded_ns);
        });
        return same ? in_brackets(names) : "not what Redis has";
    }

    /// What `act` is told, if a listener hears of it, too.
    template <class Act>
    std::string hear(std::string const& event, Act act) {
        if (!hearing_.listen_to(listened)) return "no confirmation";
        auto const told = act();
        return hearing_.has(event) ? told : "not heard of: " + event;
    }

    std::string hear_register(Call const& call) {
        return hear("register " + call.input().instance_id,
                    [&] { return register_instance(call); });
    }

    std::string hear_set_metadata(Call const& call) {
        return hear("set_metadata " + call.names().second, [&] { return set_metadata_pair(call); });
    }

    std::string hear_renew(Call const& call) {
        auto const id = call.names().second;
        // So that it is published, as in the recording.
        redis_.must({"HSET", DiscoveryKeyGenerator::instance_key(recorded_ns, id),
                     "__last_renew_pub_ttl_at", "1000000000"});
        return hear("renew " + id, [&] { return renew(call); });
    }

    std::string hear_deregister(Call const& call) {
        return hear("deregister " + call.names().second, [&] { return deregister_by_ids(call); });
    }

    std::string hear_set_service(Call const& call) {
        if (!hearing_.listen_to_services()) return "no confirmation";
        auto const told = set_service(call);
        return hearing_.has("changed services") ? told : "not heard of";
    }

    std::string hear_odd_payload(Call const& call) {
        if (!hearing_.listen_to(listened)) return "no confirmation";
        auto const& message = call.step.messages.at(0);
        redis_.must({"PUBLISH", message.channel, message.payload});
        return hearing_.has_skipped() ? "" : "not skipped";
    }

    /// Counted by nobody but the statistic that hears of it.
    std::string register_counted(Call const& call) {
        statistic_.start(recorded_ns);
        auto const patterns = [&] { return redis_.must({"PUBSUB", "NUMPAT"}).integer; };
        if (!eventually([&] { return patterns() == 2; })) return "not listening";
        auto const told = register_instance(call);
        auto const is_counted = [&] {
            auto const stats = statistic_.service_stats(recorded_ns);
            return std::find(stats.begin(), stats.end(),
                             ServiceStat{call.input().service_name, 1}) != stats.end();
        };
        bool const counted = eventually(is_counted);
        statistic_.stop();
        return counted ? told : "not counted";
    }

    static constexpr auto listened = "order";  // In all recordings.

    Client client_;
    RedisServiceRegistry registry_;
    RedisServiceDiscovery discovery_;
    RedisServiceStatistic statistic_;
    std::shared_ptr<RedisServiceTopology> topology_;
    Hearing hearing_;
    std::shared_ptr<ConsistencyRedisServiceDiscovery> cached_;
    RedisNamespaceService namespaces_;
    RedisClient redis_;
};

}  // namespace

}  // namespace rollcall::cosky::test

namespace rollcall::test {

std::unique_ptr<Operations> make_cosky_operations(RedisServer const& server,
                                                  golden::FilePlan const& plan) {
    return std::make_unique<cosky::test::CoskyOperations>(server, plan);
}

}  // namespace rollcall::test
