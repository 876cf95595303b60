#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <optional>
#include <stdexcept>

#include "cli/commands/commands.hpp"
#include "cli/context.hpp"
#include "cli/failure_text.hpp"
#include "cli/print/instance_table.hpp"
#include "cli/print/json_output.hpp"

namespace rollcall::cli {

namespace {

struct Counts {
    std::size_t instances = 0;
    std::size_t available = 0;
    std::size_t disabled = 0;
    std::size_t unhealthy = 0;
    std::size_t silent = 0;
    std::size_t persistent = 0;

    void add(Found const& found) {
        ++instances;
        if (is_available(found)) ++available;
        if (!found.instance.enabled) ++disabled;
        if (!found.instance.healthy) ++unhealthy;
        if (is_silent(found)) ++silent;
        if (!found.instance.ephemeral) ++persistent;
    }
    void add(Counts const& other) {
        instances += other.instances;
        available += other.available;
        disabled += other.disabled;
        unhealthy += other.unhealthy;
        silent += other.silent;
        persistent += other.persistent;
    }
};

using Row = std::pair<std::string, Counts>;

boost::json::object to_json(Counts const& counts) {
    return {{"instances", counts.instances}, {"available", counts.available},
            {"disabled", counts.disabled},   {"unhealthy", counts.unhealthy},
            {"silent", counts.silent},       {"persistent", counts.persistent}};
}

std::vector<std::string> to_cells(std::string const& name, Counts const& counts) {
    std::vector<std::string> cells{name};
    for (auto const count : {counts.instances, counts.available, counts.disabled, counts.unhealthy,
                             counts.silent, counts.persistent}) {
        cells.push_back(std::to_string(count));
    }
    return cells;
}

/// Not by live views, which do not see silent instances; the rest as for `list`.
class Stat final : public Command {
public:
    void declare(OptionSet&) override {}

    Exit run(Context& context) override {
        auto const& backend = context.backend();
        std::vector<Row> rows;
        Counts total;
        for (auto const& service : backend.services()) {
            auto const counts = count(context, service);
            if (!counts) continue;
            total.add(*counts);
            rows.emplace_back(service.service, *counts);
        }
        if (context.wants_json()) {
            print_json(context, rows, total);
        } else {
            print_table(context, rows, total);
        }
        context.tell_left_out();
        return Exit::done;
    }

private:
    /// A name that no reader can look up still counts: its instances are there. None for a service
    /// whose keys are damaged, which must not hide the others.
    static std::optional<Counts> count(Context& context, ServiceSummary const& service) {
        Counts counts;
        try {
            Query const query{service.service, ListScope::everything, {}, {}};
            for (auto const& found : context.backend().instances(query)) counts.add(found);
        } catch (std::invalid_argument const& error) {
            context.logger().warning(error.what());
            counts.instances = service.instances;
        } catch (Error const& error) {
            if (error.code() != errc::unexpected_reply) throw;
            context.logger().warning("not counted: " + failure_text(error.code(), error.detail()));
            return std::nullopt;
        }
        return counts;
    }

    static void print_json(Context& context, std::vector<Row> const& rows, Counts const& total) {
        boost::json::array services;
        for (auto const& [name, counts] : rows) {
            boost::json::object object{{"service", json_text(name)}};
            for (auto const& member : to_json(counts)) object.insert(member);
            services.push_back(std::move(object));
        }
        context.print(boost::json::object{{"layout", json_text(context.settings().layout)},
                                          {"services", std::move(services)},
                                          {"total", to_json(total)}});
    }

    static void print_table(Context& context, std::vector<Row> const& rows, Counts const& total) {
        Table table{
            {"SERVICE", "INSTANCES", "AVAILABLE", "DISABLED", "UNHEALTHY", "SILENT", "PERSISTENT"}};
        for (auto const& [name, counts] : rows) table.add(to_cells(name, counts));
        table.add(to_cells("(total)", total));
        context.print(table);
    }
};

}  // namespace

std::unique_ptr<Command> make_stat() { return std::make_unique<Stat>(); }

}  // namespace rollcall::cli
