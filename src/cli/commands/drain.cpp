#include <boost/json/object.hpp>
#include <fmt/format.h>

#include "cli/commands/commands.hpp"
#include "cli/commands/instance_option.hpp"
#include "cli/context.hpp"
#include "cli/parse.hpp"
#include "cli/print/json_output.hpp"

namespace rollcall::cli {

namespace {

class Drain final : public Command {
public:
    void declare(OptionSet& options) override {
        instance_.declare(options);
        options.required("--for", time_, "TIME", "how long it gets no new traffic");
    }

    Exit run(Context& context) override {
        auto const time = parse_duration("--for", time_, {std::chrono::seconds{1}});
        auto const& backend = context.backend();
        bool const stays_listed = backend.port()->capabilities().enabled_flag;
        // First of all, so that its owner does not undo the rest.
        backend.mark_drained(instance_.id(), time);
        auto const written = stays_listed ? backend.set_enabled(instance_.id(), false)
                                          : backend.deregister_instance(instance_.id());
        if (!written.existed && !written.repeated) backend.unmark_drained(instance_.id());
        instance_.require_existed(written);
        tell(context, time, stays_listed, written.announced);
        return Exit::done;
    }

private:
    void tell(Context& context, std::chrono::milliseconds time, bool stays_listed,
              bool announced) const {
        auto const stored = context.backend().port()->validated(instance_.id());
        if (context.wants_json()) {
            context.print(boost::json::object{{"service", json_text(stored.service)},
                                              {"id", json_text(stored.id)},
                                              {"done", stays_listed ? "disabled" : "deregistered"},
                                              {"for_ms", time.count()},
                                              {"announced", announced}});
            return;
        }
        context.print_line(fmt::format("{} {} for {}", stays_listed ? "disabled" : "deregistered",
                                       stored.id, format_duration(time)));
        context.print_line(
            stays_listed ? "If it is announced by rollcall, it is enabled again then; else "
                           "'rollcall enable' does so."
                         : "If it is announced by rollcall, it comes back then; another owner "
                           "may register it again at once.");
    }

    InstanceOption instance_;
    std::string time_;
};

}  // namespace

std::unique_ptr<Command> make_drain() { return std::make_unique<Drain>(); }

}  // namespace rollcall::cli
