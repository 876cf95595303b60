#include <array>
#include <string_view>

#include "cosky/scripts.hpp"
#include "load/plain_client.hpp"
#include "load/reads.hpp"

#include "rollcall/cosky/service_discovery.hpp"

namespace rollcall::bench {

std::vector<Figure> measure_cosky_instances(Stage& stage, Effort const& effort) {
    cosky::RedisServiceDiscovery discovery{stage.client()};
    PlainClient plain{stage.server().socket()};
    auto const& service = stage.ids().front().service;
    auto const sha1 =
        stage.redis()
            .must({"SCRIPT", "LOAD", std::string{cosky::scripts::discovery_get_instances.text}})
            .text;

    Reading reading;
    reading.name = "cosky.instances_1000";
    reading.ours = [&] {
        auto const found = discovery.instances(cosky_namespace, service);
        must_be_all(found.size());
        must_be_one(found.front().instance, stage);
    };
    reading.commands = {"PTTL", "HGETALL"};
    reading.others = [&] {
        std::array<std::string_view, 5> const call{"EVALSHA", sha1, "1", cosky_namespace, service};
        plain.send(call);
        must_be_all(plain.receive()->elements);
    };
    reading.others_text = "one script call of a blocking client, as CoSky reads";
    return measure_reading(stage, effort, reading);
}

}  // namespace rollcall::bench
