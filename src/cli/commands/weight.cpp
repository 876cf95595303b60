#include "cli/commands/change.hpp"
#include "cli/commands/commands.hpp"
#include "cli/parse.hpp"

namespace rollcall::cli {

namespace {

class Weight final : public Command {
public:
    void declare(OptionSet& options) override {
        instance_.declare(options);
        options.positional("N", weight_, "new weight, 0 to 1000000; 0 for no new traffic");
    }

    Exit run(Context& context) override {
        auto const weight = parse_weight("weight", weight_);
        auto const written = context.backend().set_weight(instance_.id(), weight);
        return report_change(context, instance_, written, "updated");
    }

private:
    InstanceOption instance_;
    std::string weight_;
};

}  // namespace

std::unique_ptr<Command> make_weight() { return std::make_unique<Weight>(); }

}  // namespace rollcall::cli
