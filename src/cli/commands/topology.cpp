#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include "cli/commands/commands.hpp"
#include "cli/context.hpp"
#include "cli/print/json_output.hpp"

#include "rollcall/cosky/service_topology.hpp"

namespace rollcall::cli {

namespace {

class ShowTopology final : public Command {
public:
    void declare(OptionSet&) override {}

    Exit run(Context& context) override {
        context.require_layout("cosky", "tell who uses whom");
        cosky::RedisServiceTopology service{context.client()};
        boost::json::array array;
        Table table{{"CONSUMER", "PRODUCER"}};
        for (auto const& [consumer, producers] :
             service.topology(context.settings().name_space())) {
            boost::json::array used;
            if (producers.empty()) table.add({consumer, ""});
            for (auto const& producer : producers) {
                used.push_back(json_text(producer));
                table.add({consumer, producer});
            }
            array.push_back(boost::json::object{{"consumer", json_text(consumer)},
                                                {"producers", std::move(used)}});
        }
        if (context.wants_json()) {
            context.print(array);
        } else {
            context.print(table);
        }
        return Exit::done;
    }
};

}  // namespace

std::unique_ptr<Command> make_topology() { return std::make_unique<ShowTopology>(); }

}  // namespace rollcall::cli
