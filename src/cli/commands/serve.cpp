#include <algorithm>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/json/object.hpp>
#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <optional>

#include "cli/async_calls.hpp"
#include "cli/commands/commands.hpp"
#include "cli/commands/namespace_report.hpp"
#include "cli/context.hpp"
#include "cli/eviction_warning.hpp"
#include "cli/failure_text.hpp"
#include "cli/parse.hpp"
#include "cli/periods.hpp"
#include "cli/print/json_output.hpp"
#include "cli/signal_source.hpp"
#include "redis/client_core.hpp"
#include "redis/embedded_redis.hpp"
#include "registry/announce/epoch_writer.hpp"

#include "rollcall/version.hpp"

namespace rollcall::cli {

namespace {

/// Removes and announces what expired, for as long as it lives.
class Housekeeper {
public:
    Housekeeper(boost::asio::io_context& loop, Backend const& backend,
                std::chrono::milliseconds lease, Logger& logger)
        : period_(sweep_period(lease)),
          logger_(logger),
          timer_(loop),
          calls_(backend, loop),
          eviction_(loop, backend, logger) {}

    void sweep() {
        next_ = std::chrono::steady_clock::now() + period_;
        // A lease that outlives a missed round keeps one process at it.
        calls_.sweep_as_leader(3 * period_, [this](auto const& result) { on_answer(result); });
    }

private:
    void on_answer(Result<SweepReport> const& result) {
        if (!result) {
            if (!failing_) {
                logger_.warning("cannot keep house, will keep trying: " +
                                failure_text(result.error()));
            }
        } else {
            if (failing_) logger_.info("keeping house again");
            tell(*result);
            eviction_.ask();
        }
        failing_ = !result;
        timer_.expires_at(next_);
        timer_.async_wait([this](boost::system::error_code error) {
            if (!error) sweep();
        });
    }

    void tell(SweepReport const& report) {
        for (auto const& service : report.services) {
            for (auto const& id : service.removed) {
                logger_.info(fmt::format("removed {} of {}: expired", id, service.service));
            }
            if (service.failure) {
                logger_.warning(
                    fmt::format("{}: {}", service.service, failure_text(*service.failure)));
            }
        }
    }

    std::chrono::milliseconds period_;
    Logger& logger_;
    boost::asio::steady_timer timer_;
    std::chrono::steady_clock::time_point next_ = {};
    bool failing_ = false;
    AsyncCalls calls_;
    EvictionWarning eviction_;
};

/// How the user started this program.
std::string own_name() {
    std::string const name = program_invocation_name;
    return name.empty() ? "rollcall" : name;
}

/// `text` as one word of a command line of a shell.
std::string shell_word(std::string const& text) {
    constexpr std::string_view harmless = "-_./:@%+=,";
    auto const plain = [&](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               harmless.find(c) != std::string_view::npos;
    };
    if (!text.empty() && std::ranges::all_of(text, plain)) return text;
    std::string word = "'";
    for (char const c : text) {
        if (c == '\'') {
            word += "'\\''";
        } else {
            word += c;
        }
    }
    return word + "'";
}

/// What other commands must be told to find this registry, where it is not what they assume.
std::string common_options(Settings const& settings) {
    Settings assumed;
    assumed.layout = settings.layout;
    std::string options;
    if (settings.layout != Settings{}.layout) options += " --layout " + settings.layout;
    if (settings.name_space() != assumed.name_space()) {
        options += " --namespace " + shell_word(settings.name_space());
    }
    if (settings.lease != default_lease(settings.layout)) {
        options += " --lease " + format_duration(settings.lease);
    }
    return options;
}

class Serve final : public Command {
public:
    void declare(OptionSet& options) override {
        options.setting("data", "DIR",
                        "where the Redis of its own keeps its data ($XDG_DATA_HOME/rollcall)");
        options.value("--report-every", report_text_, "TIME",
                      "how often it says what it sees (1m)");
    }

    Exit run(Context& context) override {
        auto const report_every = parse_duration("--report-every", report_text_);
        context.logger().set_style(Logger::Style::running);
        std::optional<redis::EmbeddedRedis> server;
        // Until it is ready, which may take minutes with much data, a signal simply ends us; and
        // the server with us.
        if (context.settings().url.empty()) start_server(context, server);

        boost::asio::io_context loop{1};
        SignalSource signals{loop, ending_signals()};
        auto exit = Exit::done;
        signals.start([&loop](signalfd_siginfo const&) { loop.stop(); });
        boost::asio::posix::stream_descriptor server_end{loop};
        if (server && server->end_descriptor() >= 0) {
            server_end.assign(fcntl(server->end_descriptor(), F_DUPFD_CLOEXEC, 0));
            server_end.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                                  [&](boost::system::error_code error) {
                                      if (error) return;
                                      context.logger().error(fmt::format(
                                          "the Redis of this registry ended ({})",
                                          server->ended().value_or("for unknown reasons")));
                                      exit = Exit::failed;
                                      loop.stop();
                                  });
        }
        {
            Housekeeper housekeeper{loop, context.backend(), context.settings().lease,
                                    context.logger()};
            housekeeper.sweep();
            announce::EpochWriter const epoch{context.backend().core(),
                                              context.backend().port()->live().epoch_key()};
            NamespaceReport const report{loop, context, report_every};
            announce(context, server.has_value());
            loop.run();
            // Who asks twice does not want to wait for an end in order.
            signals.give_back();
        }
        if (exit == Exit::done) context.backend().yield_sweeping();
        // Before the server goes, so that nobody complains of the lost connection.
        context.close();
        return exit;
    }

private:
    static void start_server(Context& context, std::optional<redis::EmbeddedRedis>& server) {
        redis::EmbeddedRedisOptions options;
        options.data = context.settings().data.empty() ? default_data_folder(process_environment)
                                                       : context.settings().data;
        server.emplace(std::move(options));
        context.use_url(server->url().to_string());
    }

    static void announce(Context& context, bool embedded) {
        auto const address = context.backend().core()->url().to_string();
        if (context.wants_json()) {
            context.print(
                boost::json::object{{"address", json_text(address)}, {"embedded", embedded}});
            return;
        }
        auto const name = own_name();
        context.print_line(fmt::format("rollcall {} keeps the registry on {}", version(), address));
        if (embedded) {
            auto const options = common_options(context.settings());
            context.print_line("In another terminal:");
            context.print_line(
                fmt::format("  {} run{} --service web --port 8000 -- python3 -m http.server 8000",
                            name, options));
            context.print_line(fmt::format("  {} services{}", name, options));
            context.print_line(fmt::format("  {} list web{}", name, options));
        }
        context.print_line("Ctrl-C ends it.");
    }

    std::string report_text_ = "1m";
};

}  // namespace

std::unique_ptr<Command> make_serve() { return std::make_unique<Serve>(); }

}  // namespace rollcall::cli
