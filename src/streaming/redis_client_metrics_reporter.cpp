#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <utility>

#include "core/result.hpp"
#include "redis/client_core.hpp"
#include "registry/script_calls.hpp"
#include "streaming/scripts.hpp"
#include "streaming/service_keys.hpp"

#include "rollcall/streaming/client_metrics_reporter.hpp"
#include "rollcall/streaming/registry_keys.hpp"

namespace rollcall::streaming {
namespace {

using redis::Request;
using redis::Value;

/// What changes of one instance; empty texts: nothing of that.
struct ReportCall {
    std::string service = {};
    std::string id = {};
    std::string_view inflight = {};
    std::string latency = {};
    std::string_view outcome = {};
};

enum class Reported { written, not_registered, not_an_object };

struct ReportScript {
    using Call = ReportCall;
    using Reply = Reported;

    std::string_view prefix;
    std::string_view registered_only;
    std::string_view alpha;

    void push(Request& request, Call const& call) const {
        auto const instance = ServiceKeys{prefix, call.service}.instance(call.id);
        std::array<std::string_view, 1> const keys{instance};
        std::array<std::string_view, 5> const arguments{registered_only, call.inflight,
                                                        call.latency, call.outcome, alpha};
        request.push_script(scripts::report_metrics, keys, arguments);
    }
    static Result<Reply> read(Call const& call, Value reply) {
        if (reply.is_error()) {
            return redis::failure_of(reply, subject("report metrics", call.service, call.id));
        }
        switch (reply.integer()) {
            case 1:
                return Reported::written;
            case 0:
                return Reported::not_registered;
            default:
                return Reported::not_an_object;
        }
    }
};

std::string text_of(double number) {
    std::array<char, 32> text{};
    return {text.data(), std::to_chars(text.data(), text.data() + text.size(), number).ptr};
}

ClientMetricsReporterConfig checked(ClientMetricsReporterConfig config) {
    config.key_prefix = RegistryKeys::validated_prefix(config.key_prefix);
    auto& alpha = config.error_rate_alpha;
    bool const is_number = alpha == alpha;  // NOLINT(misc-redundant-expression)
    alpha =
        is_number ? std::clamp(alpha, 0.0, 1.0) : ClientMetricsReporterConfig{}.error_rate_alpha;
    return config;
}

std::string_view outcome_text(bool success) { return success ? "1" : "0"; }

std::string latency_text(std::chrono::milliseconds latency) {
    return std::to_string(std::max<std::int64_t>(0, latency.count()));
}

}  // namespace

struct RedisClientMetricsReporter::Impl {
    Impl(std::shared_ptr<redis::ClientCore> with, ClientMetricsReporterConfig given)
        : core(std::move(with)),
          config(checked(std::move(given))),
          alpha(text_of(config.error_rate_alpha)) {}

    void report(std::string_view service, std::string_view id, ReportCall call) const noexcept {
        try {
            call.service = RegistryKeys::validate_and_sanitize_service_name(service);
            call.id = RegistryKeys::validate_and_sanitize_instance_id(id);
            ReportScript const script{config.key_prefix, config.registered_only ? "1" : "0", alpha};
            auto const outcome = core->run(
                [&] { return execute_one(core->session(), script, call, core->deadline()); });
            if (outcome.has_error()) {
                note(outcome.error().code().message() + ": " + outcome.error().detail());
            } else if (*outcome == Reported::not_an_object) {
                note(subject("report metrics", call.service, call.id) +
                     ": what is there is no JSON object of at most 1 MiB");
            }
        } catch (std::exception const& error) {
            note(error.what());
        }
    }

    void note(std::string_view why) const noexcept {
        core->log().write(LogLevel::warning, "client-metrics", why);
    }

    std::shared_ptr<redis::ClientCore> core;
    ClientMetricsReporterConfig const config;
    std::string const alpha;
};

RedisClientMetricsReporter::RedisClientMetricsReporter(Client const& client,
                                                       ClientMetricsReporterConfig config)
    : impl_(std::make_unique<Impl>(client.core(), std::move(config))) {}
RedisClientMetricsReporter::~RedisClientMetricsReporter() = default;

void RedisClientMetricsReporter::increment_inflight(std::string_view service_name,
                                                    std::string_view instance_id) {
    ReportCall call;
    call.inflight = "1";
    impl_->report(service_name, instance_id, std::move(call));
}

void RedisClientMetricsReporter::decrement_inflight(std::string_view service_name,
                                                    std::string_view instance_id) {
    ReportCall call;
    call.inflight = "-1";
    impl_->report(service_name, instance_id, std::move(call));
}

void RedisClientMetricsReporter::record_latency(std::string_view service_name,
                                                std::string_view instance_id,
                                                std::chrono::milliseconds latency) {
    ReportCall call;
    call.latency = latency_text(latency);
    impl_->report(service_name, instance_id, std::move(call));
}

void RedisClientMetricsReporter::record_outcome(std::string_view service_name,
                                                std::string_view instance_id, bool success) {
    ReportCall call;
    call.outcome = outcome_text(success);
    impl_->report(service_name, instance_id, std::move(call));
}

void RedisClientMetricsReporter::record_end(std::string_view service_name,
                                            std::string_view instance_id,
                                            std::chrono::milliseconds latency, bool success) {
    ReportCall call;
    call.inflight = "-1";
    call.latency = latency_text(latency);
    call.outcome = outcome_text(success);
    impl_->report(service_name, instance_id, std::move(call));
}

ClientMetricsReporterConfig const& RedisClientMetricsReporter::config() const noexcept {
    return impl_->config;
}

}  // namespace rollcall::streaming
