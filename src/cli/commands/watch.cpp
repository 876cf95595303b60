#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/json/object.hpp>
#include <exception>
#include <fmt/format.h>
#include <mutex>

#include "cli/commands/commands.hpp"
#include "cli/commands/unknown_service.hpp"
#include "cli/context.hpp"
#include "cli/print/change_text.hpp"
#include "cli/print/json_output.hpp"
#include "cli/signal_source.hpp"

#include "rollcall/error.hpp"

namespace rollcall::cli {

namespace {

/// Prints changes where they are told, so that a slow reader of ours makes the library fold them to
/// one `resync`, and not this process grow. Nothing is printed after the first failure.
class Printer {
public:
    Printer(Context& context, boost::asio::io_context& loop) : context_(context), loop_(loop) {}

    void print(std::string const& service, Change const& change) {
        std::lock_guard const lock{mutex_};
        if (failure_) return;
        try {
            write(service, change);
            if (change.kind != ChangeKind::resync) return;
            for (auto const& instance : change.now) {
                write(service,
                      {ChangeKind::current, RemovalReason::none, &instance, nullptr, change.now});
            }
        } catch (...) {
            failure_ = std::current_exception();
            loop_.stop();
        }
    }

    void print_heading() {
        std::lock_guard const lock{mutex_};
        if (!context_.wants_json()) context_.print_line(change_heading());
    }

    void rethrow() {
        std::lock_guard const lock{mutex_};
        if (failure_) std::rethrow_exception(failure_);
    }

private:
    void write(std::string const& service, Change const& change) {
        auto const now = std::chrono::system_clock::now();
        if (context_.wants_json()) {
            context_.print(change_json(service, change, now));
        } else {
            context_.print_line(change_line(service, change, now));
        }
    }

    Context& context_;
    boost::asio::io_context& loop_;
    std::mutex mutex_;
    std::exception_ptr failure_;
};

class WatchCommand final : public Command {
public:
    void declare(OptionSet& options) override {
        options.any_positionals("SERVICE", services_, "whose instances; without: of all services");
    }

    Exit run(Context& context) override {
        context.logger().set_style(Logger::Style::running);
        boost::asio::io_context loop{1};
        SignalSource signals{loop, ending_signals()};
        signals.start([&loop](signalfd_siginfo const&) { loop.stop(); });
        Printer printer{context, loop};
        {
            auto const registry = context.registry();
            std::vector<Service> services;
            for (auto const& name : services_) services.push_back(registry.service(name));
            printer.print_heading();
            std::vector<Watch> const watches = watch(registry, services, printer);
            tell_unknown_ones(context, services);
            loop.run();
            // Who asks twice does not want to wait for an end in order.
            signals.give_back();
        }
        context.close();
        printer.rethrow();
        return Exit::done;
    }

private:
    /// Nobody hears of a service that never comes: a typo, maybe.
    static void tell_unknown_ones(Context& context, std::vector<Service> const& services) try {
        if (services.empty()) return;
        std::vector<std::string> known;
        for (auto const& one : context.backend().services()) known.push_back(one.service);
        for (auto const& service : services) {
            if (std::ranges::find(known, service.name()) == known.end()) {
                tell_unknown(context, service.name(), known);
            }
        }
    } catch (Error const&) {
        return;  // Of a Redis that is away the library tells.
    }

    static std::vector<Watch> watch(Registry const& registry, std::vector<Service> const& services,
                                    Printer& printer) {
        std::vector<Watch> watches;
        for (auto const& service : services) {
            watches.push_back(
                service.on_change([name = service.name(), &printer](Change const& change) {
                    printer.print(name, change);
                }));
        }
        if (!services.empty()) return watches;
        watches.push_back(
            registry.on_change([&printer](std::string const& service, Change const& change) {
                printer.print(service, change);
            }));
        return watches;
    }

    std::vector<std::string> services_;
};

}  // namespace

std::unique_ptr<Command> make_watch() { return std::make_unique<WatchCommand>(); }

}  // namespace rollcall::cli
