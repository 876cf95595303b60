#include "rollcall/version.hpp"

#include <boost/json/object.hpp>
#include <fmt/format.h>

#include "cli/commands/commands.hpp"
#include "cli/context.hpp"
#include "cli/print/json_output.hpp"

namespace rollcall::cli {

namespace {

class Version final : public Command {
public:
    void declare(OptionSet&) override {}

    Exit run(Context& context) override {
        if (context.wants_json()) {
            context.print(boost::json::object{{"version", json_text(rollcall::version())}});
        } else {
            context.print_line(fmt::format("rollcall {}", rollcall::version()));
        }
        return Exit::done;
    }
};

}  // namespace

std::unique_ptr<Command> make_version() { return std::make_unique<Version>(); }

}  // namespace rollcall::cli
