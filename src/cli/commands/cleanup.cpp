#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include "cli/commands/commands.hpp"
#include "cli/context.hpp"
#include "cli/failure_text.hpp"
#include "cli/print/json_output.hpp"

namespace rollcall::cli {

namespace {

boost::json::value to_json(SweepReport const& report) {
    boost::json::array array;
    for (auto const& service : report.services) {
        boost::json::array removed;
        for (auto const& id : service.removed) removed.push_back(json_text(id));
        boost::json::object object;
        object["service"] = json_text(service.service);
        object["removed"] = std::move(removed);
        object["error"] =
            service.failure ? json_text(failure_text(*service.failure)) : boost::json::value();
        array.push_back(std::move(object));
    }
    return array;
}

Table to_table(SweepReport const& report) {
    Table table{{"SERVICE", "REMOVED"}};
    for (auto const& service : report.services) {
        for (auto const& id : service.removed) table.add({service.service, id});
    }
    return table;
}

class Cleanup final : public Command {
public:
    void declare(OptionSet&) override {}

    Exit run(Context& context) override {
        auto const report = context.backend().sweep();
        if (context.wants_json()) {
            context.print(to_json(report));
        } else {
            context.print(to_table(report));
        }
        auto exit = Exit::done;
        for (auto const& service : report.services) {
            if (!service.failure) continue;
            context.logger().error(service.service + ": " + failure_text(*service.failure));
            exit = exit_for(service.failure->code());
        }
        return exit;
    }
};

}  // namespace

std::unique_ptr<Command> make_cleanup() { return std::make_unique<Cleanup>(); }

}  // namespace rollcall::cli
