#include "cli/commands/description_options.hpp"

#include "cli/own_address.hpp"
#include "cli/parse.hpp"

namespace rollcall::cli {

void DescriptionOptions::declare(OptionSet& options) {
    options.required("--service", service_, "NAME", "service of the instance");
    options.value("--id", id_, "ID", "its id; made from service, host and port when absent");
    options.setting("host", "HOST",
                    "its name or address; else this machine's address on the way to Redis");
    options.required("--port", port_, "PORT", "its port");
    options.value("--scheme", scheme_, "NAME", "http, https, tcp, grpc, ws… (http)");
    options.value("--weight", weight_, "N", "share of new traffic, 0 to 1000000 (1)");
    options.repeated("--metadata", metadata_, "KEY=VALUE", "a label");
    options.flag(
        "--persistent", persistent_,
        "stays stored until deregistered; without heartbeats it is silent after the lease, "
        "and the cleanup marks it unhealthy");
}

int DescriptionOptions::port() const { return parse_port("--port", port_); }

ServiceInstance DescriptionOptions::instance(Context& context, Deadline deadline) const {
    ServiceInstance instance;
    instance.service_name = service_;
    instance.instance_id = id_;
    instance.scheme = scheme_;
    instance.port = port();
    instance.weight = parse_weight("--weight", weight_);
    instance.ephemeral = !persistent_;
    instance.metadata = parse_metadata("--metadata", metadata_);
    instance.host = context.settings().host;
    auto const& backend = context.backend();
    if (instance.host.empty()) instance.host = own_address(*backend.core(), deadline);
    return backend.port()->validated(instance);
}

}  // namespace rollcall::cli
