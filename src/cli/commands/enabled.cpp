#include "cli/commands/change.hpp"
#include "cli/commands/commands.hpp"

namespace rollcall::cli {

namespace {

class Enabled final : public Command {
public:
    explicit Enabled(bool on) : on_(on) {}

    void declare(OptionSet& options) override { instance_.declare(options); }

    Exit run(Context& context) override {
        auto const& backend = context.backend();
        auto const written = backend.set_enabled(instance_.id(), on_);
        // Else its owner would disable it again.
        if (on_) backend.unmark_drained(instance_.id());
        return report_change(context, instance_, written, on_ ? "enabled" : "disabled");
    }

private:
    bool on_;
    InstanceOption instance_;
};

}  // namespace

std::unique_ptr<Command> make_enable() { return std::make_unique<Enabled>(true); }
std::unique_ptr<Command> make_disable() { return std::make_unique<Enabled>(false); }

}  // namespace rollcall::cli
