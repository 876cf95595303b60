#include "cli/context.hpp"

#include <string>

#include "cli/print/instance_table.hpp"
#include "cli/print/json_output.hpp"
#include "cli/print/text.hpp"

#include "rollcall/error.hpp"

namespace rollcall::cli {

Context::Context(Settings settings, Output& output, Logger& logger, BackendFactory factory)
    : settings_(std::move(settings)),
      output_(output),
      logger_(logger),
      factory_(std::move(factory)) {}

Backend& Context::backend() {
    if (!backend_) backend_ = factory_(client(), settings_);
    return *backend_;
}

Client const& Context::client() {
    if (client_) return *client_;
    client_ = make_client(settings_, logger_);
    return *client_;
}

Registry Context::registry() {
    RegistryOptions options;
    if (settings_.heartbeat) options.heartbeat = *settings_.heartbeat;
    return Registry{client(), make_layout(settings_), std::move(options)};
}

void Context::require_layout(std::string_view layout, std::string_view what) const {
    if (settings_.layout == layout) return;
    throw Error{errc::not_supported, "only the layout " + std::string{layout} + " can " +
                                         std::string{what} + " (--layout " + std::string{layout} +
                                         ")"};
}

std::string_view Context::hint(std::error_code failure) const noexcept {
    if (failure != errc::not_connected || !settings_.url.empty()) return {};
    return "; no URL was given, and no 'rollcall serve' of this user runs";
}

void Context::print(Table const& table) { output_.write(table.to_string(output_.colour())); }

void Context::print(boost::json::value const& document) { output_.write(to_document(document)); }

void Context::print_line(std::string_view text) { output_.write(terminal_safe(text) + '\n'); }

void Context::tell_left_out() {
    auto const count = backend().left_out();
    if (count < 2) return;
    logger_.warning("left out " + std::to_string(count) +
                    " entries in all; 'rollcall doctor' tells which");
}

void Context::print_instances(std::span<Found const> instances) {
    if (wants_json()) {
        print(instances_json(instances));
    } else {
        print(instance_table(instances, wide()));
    }
}

}  // namespace rollcall::cli
