#include "cli/commands/description_options.hpp"

#include "cli/own_address.hpp"
#include "cli/parse.hpp"
#include "core/protocol_table.hpp"

namespace rollcall::cli {

namespace {

Protocol parse_scheme(std::string_view name, std::string const& text) {
    if (auto const protocol = find_protocol(text)) return *protocol;
    throw UsageError{name, text, "must be one of " + known_protocols()};
}

/// The port that is stored: for 0 the scheme's own.
int parse_port_of(Protocol const& protocol, std::string_view name, std::string const& text) {
    auto const port = effective_port(protocol.name, parse_port(name, text));
    if (port != 0) return port;
    throw UsageError{
        name, text,
        "must be 1 to 65535, for " + std::string{protocol.name} + " has no port of its own"};
}

}  // namespace

void DescriptionOptions::declare(OptionSet& options, std::string const& port_help) {
    options.required("--service", service_, "NAME", "service of the instance");
    options.value("--id", id_, "ID", "its id; made from service, host and port when absent");
    options.setting("host", "HOST",
                    "its name or address; else this machine's address on the way to Redis");
    options.required("--port", port_, "PORT", port_help);
    options.value("--scheme", scheme_, "NAME", "http, https, tcp, grpc, ws… (http)");
    options.value("--weight", weight_, "N", "share of new traffic, 0 to 1000000 (1)");
    options.repeated("--metadata", metadata_, "KEY=VALUE", "a label");
    options.flag(
        "--persistent", persistent_,
        "stays stored until deregistered; in the layout streaming it is silent after the lease "
        "without heartbeats, and the cleanup marks it unhealthy");
}

int DescriptionOptions::port() const { return parse_port("--port", port_); }

ServiceInstance DescriptionOptions::instance(Context& context, Deadline deadline) const {
    ServiceInstance instance;
    instance.service_name = service_;
    instance.instance_id = id_;
    // The other layout takes any scheme.
    bool const known_only = context.settings().layout == "streaming";
    auto const protocol =
        known_only ? parse_scheme("--scheme", scheme_) : Protocol{scheme_, false, 0};
    instance.scheme = protocol.name;
    instance.port = parse_port_of(protocol, "--port", port_);
    instance.weight = parse_weight("--weight", weight_);
    instance.ephemeral = !persistent_;
    instance.metadata = parse_metadata("--metadata", metadata_);
    instance.host = context.settings().host;
    auto const& backend = context.backend();
    if (instance.host.empty()) instance.host = own_address(*backend.core(), deadline);
    return backend.port()->validated(instance);
}

}  // namespace rollcall::cli
