#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include "cli/commands/commands.hpp"
#include "cli/context.hpp"
#include "cli/print/json_output.hpp"

#include "rollcall/cosky/namespace_service.hpp"

namespace rollcall::cli {

namespace {

class Namespaces final : public Command {
public:
    void declare(OptionSet&) override {}

    Exit run(Context& context) override {
        context.require_layout("cosky", "list namespaces");
        cosky::RedisNamespaceService service{context.client()};
        boost::json::array array;
        Table table{{"NAMESPACE"}};
        for (auto const& name : service.namespaces()) {
            array.push_back(boost::json::object{{"namespace", json_text(name)}});
            table.add({name});
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

std::unique_ptr<Command> make_namespaces() { return std::make_unique<Namespaces>(); }

}  // namespace rollcall::cli
