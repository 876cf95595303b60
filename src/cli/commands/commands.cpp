#include "cli/commands/commands.hpp"

namespace rollcall::cli {

std::span<CommandRow const> command_table() noexcept {
    static constexpr CommandRow rows[] = {
        {"serve", "keep the registry in order; with a Redis of its own when no URL is given",
         "rollcall serve --data ./registry", make_serve},
        {"run", "start a command, and keep it registered while it runs",
         "rollcall run --service web --port 8000 -- python3 -m http.server 8000", make_run},
        {"register", "register an instance once; it expires unless 'heartbeat' renews it",
         "rollcall register --service web --id a --host 10.0.0.5 --port 8080 --metadata zone=b",
         make_register},
        {"deregister", "remove an instance", "rollcall deregister --service web --id a",
         make_deregister},
        {"heartbeat", "renew instances, once or for as long as it runs",
         "rollcall heartbeat --service web --id a --id b --every 10s", make_heartbeat},
        {"services", "list the services, with their instances within the lease",
         "rollcall services", make_services},
        {"list", "list the instances of a service",
         "rollcall list web --where 'region==eu' --metric 'cpu<80' --output json", make_list},
        {"choose", "choose an instance as callers do, or show how they are spread",
         "rollcall choose web --balancer round-robin --count 1000", make_choose},
        {"wait", "wait until a service has enough instances",
         "rollcall wait web --count 2 --timeout 30s", make_wait},
        {"watch", "show what is there, and every change as it happens",
         "rollcall watch web orders --output json", make_watch},
        {"enable", "offer an instance to callers again", "rollcall enable --service web --id a",
         make_enable},
        {"disable", "take an instance out of choice; it stays registered",
         "rollcall disable --service web --id a", make_disable},
        {"drain", "keep new traffic from an instance for a while",
         "rollcall drain --service web --id a --for 5m", make_drain},
        {"weight", "set an instance's share of new traffic",
         "rollcall weight --service web --id a 5", make_weight},
        {"metadata set", "replace all metadata of an instance",
         "rollcall metadata set --service web --id a zone=b version=2", make_metadata_set},
        {"metadata merge", "add to the metadata of an instance",
         "rollcall metadata merge --service web --id a version=3", make_metadata_merge},
        {"metadata clear", "remove all metadata of an instance",
         "rollcall metadata clear --service web --id a", make_metadata_clear},
        {"stat", "count services and instances", "rollcall stat", make_stat},
        {"namespaces", "list the namespaces of the cosky layout",
         "rollcall namespaces --layout cosky", make_namespaces},
        {"topology", "show which services use which, in the cosky layout",
         "rollcall topology --layout cosky --namespace 'cosky-{default}'", make_topology},
        {"cleanup", "remove and announce expired instances now", "rollcall cleanup", make_cleanup},
        {"doctor", "look for what is wrong, and repair it with --fix", "rollcall doctor --fix",
         make_doctor},
        {"version", "print the version", "rollcall version --output json", make_version, true},
    };
    return rows;
}

}  // namespace rollcall::cli
