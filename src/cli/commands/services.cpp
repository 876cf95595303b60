#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include "cli/commands/commands.hpp"
#include "cli/context.hpp"
#include "cli/print/json_output.hpp"

namespace rollcall::cli {

namespace {

class Services final : public Command {
public:
    void declare(OptionSet&) override {}

    Exit run(Context& context) override {
        auto const services = context.backend().services();
        if (context.wants_json()) {
            boost::json::array array;
            for (auto const& one : services) {
                array.push_back(boost::json::object{{"service", json_text(one.service)},
                                                    {"instances", one.instances}});
            }
            context.print(array);
        } else {
            Table table{{"SERVICE", "INSTANCES"}};
            for (auto const& one : services) {
                table.add({one.service, std::to_string(one.instances)});
            }
            context.print(table);
        }
        context.tell_left_out();
        return Exit::done;
    }
};

}  // namespace

std::unique_ptr<Command> make_services() { return std::make_unique<Services>(); }

}  // namespace rollcall::cli
