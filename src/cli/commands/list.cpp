#include "cli/commands/commands.hpp"
#include "cli/context.hpp"
#include "cli/print/instance_table.hpp"

namespace rollcall::cli {

namespace {

class List final : public Command {
public:
    void declare(OptionSet& options) override {
        options.positional("SERVICE", query_.service, "whose instances");
        options.flag("-a,--all", all_, "also disabled, unhealthy and silent ones");
        options.repeated("--where", where_, "CONDITION",
                         "metadata condition: FIELD, one of == != > >= < <=, VALUE");
        options.repeated("--metric", metric_, "CONDITION", "condition on a metric");
    }

    Exit run(Context& context) override {
        for (auto const& text : where_)
            query_.metadata.push_back(Condition::parse("--where", text));
        for (auto const& text : metric_) {
            query_.metrics.push_back(Condition::parse("--metric", text));
        }
        query_.scope = all_ ? ListScope::everything : ListScope::discoverable;
        auto found = context.backend().instances(query_);
        if (!all_) std::erase_if(found, [](Found const& one) { return !is_available(one); });
        context.print_instances(found);
        return Exit::done;
    }

private:
    Query query_;
    bool all_ = false;
    std::vector<std::string> where_;
    std::vector<std::string> metric_;
};

}  // namespace

std::unique_ptr<Command> make_list() { return std::make_unique<List>(); }

}  // namespace rollcall::cli
