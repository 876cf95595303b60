#include <boost/json/object.hpp>

#include "cli/commands/commands.hpp"
#include "cli/commands/description_options.hpp"
#include "cli/context.hpp"
#include "cli/print/json_output.hpp"

namespace rollcall::cli {

namespace {

class Register final : public Command {
public:
    void declare(OptionSet& options) override {
        description_.declare(options, "its port; 0 for the scheme's own: 80 for http");
    }

    Exit run(Context& context) override {
        // One for both requests: finding out the address counts.
        auto const deadline = after(context.settings().timeout);
        auto const instance = description_.instance(context, deadline);
        auto const written = context.backend().register_instance(instance, deadline);
        if (context.wants_json()) {
            context.print(boost::json::object{{"service", json_text(instance.service_name)},
                                              {"id", json_text(instance.instance_id)},
                                              {"created", created(written)},
                                              {"announced", written.announced}});
        } else {
            context.print_line(instance.instance_id);
        }
        return Exit::done;
    }

private:
    /// What a repeated request finds, its first try may have put there.
    static boost::json::value created(Written const& written) {
        if (written.existed && written.repeated) return nullptr;
        return !written.existed;
    }

    DescriptionOptions description_;
};

}  // namespace

std::unique_ptr<Command> make_register() { return std::make_unique<Register>(); }

}  // namespace rollcall::cli
