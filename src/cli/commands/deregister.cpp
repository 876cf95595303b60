#include "cli/commands/change.hpp"
#include "cli/commands/commands.hpp"

namespace rollcall::cli {

namespace {

class Deregister final : public Command {
public:
    void declare(OptionSet& options) override { instance_.declare(options); }

    Exit run(Context& context) override {
        auto written = context.backend().deregister_instance(instance_.id());
        // Absent the second time is what the first time was for.
        written.existed = written.existed || written.repeated;
        return report_change(context, instance_, written, "deregistered");
    }

private:
    InstanceOption instance_;
};

}  // namespace

std::unique_ptr<Command> make_deregister() { return std::make_unique<Deregister>(); }

}  // namespace rollcall::cli
