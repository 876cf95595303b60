#include "cli/program.hpp"

#include <csignal>
#include <fcntl.h>
#include <fmt/format.h>
#include <new>
#include <optional>
#include <string_view>
#include <unistd.h>

#include "cli/command_line.hpp"
#include "cli/context.hpp"
#include "cli/failure_text.hpp"

#include "rollcall/error.hpp"

namespace rollcall::cli {

namespace {

/// Of a command that needs no registry: what it prints with is all that counts.
std::optional<std::string> output_only(std::string const& name) {
    return name == "ROLLCALL_OUTPUT" ? process_environment(name) : std::nullopt;
}

Exit run_command(std::vector<std::string> const& arguments, Output& output, Logger& logger) {
    auto const line = parse_command_line(arguments);
    if (!line.has_command) {
        Output{STDERR_FILENO}.write(line.help);
        return Exit::usage;
    }
    if (!line.help.empty()) {
        output.write(line.help);
        return Exit::done;
    }
    auto const environment = line.row->standalone ? output_only : process_environment;
    Context context{Settings::resolve(line.settings, environment), output, logger, make_backend};
    try {
        return line.command->run(context);
    } catch (Error const& error) {
        logger.error(fmt::format("{}{}", failure_text(error.code(), error.detail()),
                                 context.hint(error.code())));
        return exit_for(error.code());
    }
}

}  // namespace

int run_program(std::vector<std::string> const& arguments) {
    Logger logger;
    Output output{STDOUT_FILENO};
    auto exit = Exit::failed;
    try {
        exit = run_command(arguments, output, logger);
    } catch (ClosedPipe const&) {
        // What a shell reports of a program that the closed pipe itself has ended.
        return 128 + SIGPIPE;
    } catch (CommandError const& error) {
        logger.error(error.what());
        exit = error.exit();
    } catch (std::invalid_argument const& error) {
        logger.error(error.what());
        exit = Exit::usage;
    } catch (std::exception const& error) {
        logger.error(error.what());
    }
    return static_cast<int>(exit);
}

std::vector<std::string> take_arguments(int count, char** arguments) {
    std::vector<std::string> taken;
    bool ours = true;
    for (int i = 1; i < count; ++i) {
        std::string_view const argument{arguments[i]};
        taken.emplace_back(argument);
        ours = ours && argument != "--";
        auto const begin = argument.find("://");
        auto const end = argument.rfind('@');
        if (!ours || begin == std::string_view::npos || end == std::string_view::npos) continue;
        for (auto at = begin + 3; at < end; ++at) arguments[i][at] = '*';
    }
    return taken;
}

void occupy_standard_streams() noexcept {
    for (int const stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
        if (fcntl(stream, F_GETFD) >= 0) continue;
        // The lowest free descriptor, which is this one; open for what the stream is not for.
        (void)open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
    }
}

}  // namespace rollcall::cli
