#include <algorithm>
#include <fmt/format.h>

#include "cli/commands/commands.hpp"
#include "cli/commands/unknown_service.hpp"
#include "cli/context.hpp"
#include "cli/print/instance_table.hpp"
#include "core/text.hpp"

#include "rollcall/error.hpp"

namespace rollcall::cli {

namespace {

/// Not by a live view: what is read once is cheaper without (`docs/architecture.md`), needs no
/// right to listen, and says what it left out. Silent instances and conditions are beyond a view
/// anyway.
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
        context.tell_left_out();
        if (found.empty() && !context.wants_json()) explain(context);
        return Exit::done;
    }

private:
    /// Tells a service that is empty from one that nobody knows: a typo.
    void explain(Context& context) const try {
        auto const name =
            context.backend().port()->validated(InstanceId{query_.service, "x"}).service;
        std::vector<std::string> known;
        for (auto const& one : context.backend().services()) known.push_back(one.service);
        if (std::ranges::find(known, name) != known.end()) {
            auto const filtered = !query_.metadata.empty() || !query_.metrics.empty();
            // A layout without these marks keeps nothing back.
            auto const all = all_ || !context.backend().port()->capabilities().enabled_flag;
            context.logger().warning(fmt::format("no instance of {} {}", shown(name),
                                                 filtered ? "matches"
                                                 : all    ? "can be read"
                                                       : "can be called; --all shows the others"));
            return;
        }
        tell_unknown(context, name, known);
    } catch (Error const&) {
        return;  // The list itself was answered.
    }

    Query query_;
    bool all_ = false;
    std::vector<std::string> where_;
    std::vector<std::string> metric_;
};

}  // namespace

std::unique_ptr<Command> make_list() { return std::make_unique<List>(); }

}  // namespace rollcall::cli
