#include <algorithm>
#include <fmt/format.h>

#include "cli/commands/commands.hpp"
#include "cli/commands/description_options.hpp"
#include "cli/context.hpp"
#include "cli/parse.hpp"
#include "cli/supervise/supervisor.hpp"

namespace rollcall::cli {

namespace {

using namespace std::chrono_literals;

constexpr DurationRange or_none{0ms, 24h};

/// For the address on the way to Redis: until the command runs, signals wait.
constexpr std::chrono::milliseconds longest_look{2s};

class Run final : public Command {
public:
    void declare(OptionSet& options) override {
        description_.declare(options, "its port, where the command accepts connections");
        options.value("--start-timeout", start_timeout_, "TIME",
                      "how long its port may take to accept; 0 to register at once (30s)");
        options.value("--settle", settle_, "TIME",
                      "from the deregistration to the signal that ends the command (1s)");
        options.value("--check", check_, "KIND",
                      "tcp or http:/PATH: taken out while it fails; http passes with 200 to 399");
        options.value("--check-interval", check_interval_, "TIME", "between checks (5s)");
        options.value("--check-timeout", check_timeout_, "TIME", "limit of one check (2s)");
        options.value("--fall", fall_, "N", "failed checks in a row that take it out (2)");
        options.value("--rise", rise_, "N", "passed checks in a row that bring it back (1)");
        options.flag("--keep-child", keep_child_,
                     "let the command live when rollcall is killed; else it gets SIGTERM");
        options.rest("COMMAND", command_, "the command with its arguments, behind '--'");
    }

    Exit run(Context& context) override {
        auto options = supervisor_options(context.settings());
        if (description_.port() == 0) {
            throw UsageError{"--port", "0", "must be the port that the command listens on"};
        }
        // What a shell or a service manager hands on is for the command; what we open is not.
        options.child.descriptors = inherited_descriptors();
        boost::asio::io_context loop{1};
        SignalSource signals{loop, supervised_signals()};
        context.logger().set_style(Logger::Style::running);
        auto const instance = description_.instance(
            context, after(std::min(context.settings().timeout, longest_look)));
        options.timetable.health_flag = context.backend().port()->capabilities().health_flag;
        Supervisor supervisor{loop,
                              signals,
                              context.backend(),
                              context.registry(),
                              instance,
                              std::move(options),
                              context.logger()};
        return static_cast<Exit>(supervisor.run());
    }

private:
    SupervisorOptions supervisor_options(Settings const& settings) const {
        SupervisorOptions options;
        auto& timetable = options.timetable;
        timetable.start_timeout = parse_duration("--start-timeout", start_timeout_, or_none);
        timetable.settle = parse_duration("--settle", settle_, or_none);
        timetable.register_limit = settings.timeout;
        timetable.leave_limit = settings.timeout;
        timetable.check_interval = parse_duration("--check-interval", check_interval_);
        timetable.fall = static_cast<int>(parse_integer("--fall", fall_, 1, 1'000));
        timetable.rise = static_cast<int>(parse_integer("--rise", rise_, 1, 1'000));
        if (!check_.empty()) options.check = CheckSpec::parse("--check", check_);
        timetable.check = options.check.kind != CheckSpec::Kind::none;
        options.check_timeout = parse_duration("--check-timeout", check_timeout_);
        options.child.command = command_;
        options.child.keep = keep_child_;
        return options;
    }

    DescriptionOptions description_;
    std::string start_timeout_ = "30s";
    std::string settle_ = "1s";
    std::string check_;
    std::string check_interval_ = "5s";
    std::string check_timeout_ = "2s";
    std::string fall_ = "2";
    std::string rise_ = "1";
    bool keep_child_ = false;
    std::vector<std::string> command_;
};

}  // namespace

std::unique_ptr<Command> make_run() { return std::make_unique<Run>(); }

}  // namespace rollcall::cli
