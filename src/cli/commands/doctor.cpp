#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include "cli/commands/commands.hpp"
#include "cli/commands/server_report.hpp"
#include "cli/context.hpp"
#include "cli/failure_text.hpp"
#include "cli/print/json_output.hpp"
#include "redis/client_core.hpp"

namespace rollcall::cli {

namespace {

using Severity = Finding::Severity;

std::string_view word(Severity severity) {
    switch (severity) {
        case Severity::ok:
            return "ok";
        case Severity::note:
            return "note";
        case Severity::warning:
            return "warning";
        case Severity::problem:
            return "problem";
    }
    return "problem";
}

bool is_trouble(Finding const& finding) {
    return finding.severity >= Severity::warning && !finding.repaired;
}

Finding connection(Severity severity, std::string text) {
    return make_finding(severity, "connection", std::move(text));
}

class Doctor final : public Command {
public:
    void declare(OptionSet& options) override {
        options.flag("--fix", fix_, "repair what can be repaired safely");
    }

    Exit run(Context& context) override {
        auto const address = context.backend().core()->url().to_string();
        auto const exit = examine(context, address);
        print(context, address);
        if (exit != Exit::done) return exit;
        return std::ranges::any_of(findings_, is_trouble) ? Exit::failed : Exit::done;
    }

private:
    /// A Redis that does not answer is a finding, too, with the exit code of its own.
    Exit examine(Context& context, std::string const& address) {
        auto const& backend = context.backend();
        auto const& core = backend.core();
        auto const facts = core->run([&core] { return server_facts(*core, core->deadline()); });
        if (!facts) {
            findings_.push_back(connection(
                Severity::problem, fmt::format("{}: {}{}", address, failure_text(facts.error()),
                                               context.hint(facts.error().code()))));
            return exit_for(facts.error().code());
        }
        findings_.push_back(connection(
            Severity::ok, fmt::format("{} answers in {:.1f} ms", address,
                                      static_cast<double>(facts->round_trip.count()) / 1'000)));
        std::ranges::move(server_findings(*facts), std::back_inserter(findings_));
        try {
            std::ranges::move(backend.examine(fix_), std::back_inserter(findings_));
        } catch (Error const& error) {
            findings_.push_back(connection(
                Severity::problem,
                "the registry cannot be examined: " + failure_text(error.code(), error.detail())));
            return exit_for(error.code());
        }
        return Exit::done;
    }

    void print(Context& context, std::string const& address) const {
        if (context.wants_json()) {
            print_json(context, address);
            return;
        }
        Table table{{"FINDING", "TOPIC", "TEXT", "REPAIR"}};
        for (auto const& finding : findings_) {
            auto const repair = finding.repaired         ? "done: " + finding.repair
                                : finding.repair.empty() ? ""
                                                         : "--fix " + finding.repair;
            table.add({std::string{word(finding.severity)}, finding.topic, finding.text, repair});
        }
        context.print(table);
    }

    void print_json(Context& context, std::string const& address) const {
        boost::json::array findings;
        for (auto const& finding : findings_) {
            boost::json::object object;
            object["severity"] = word(finding.severity);
            object["topic"] = json_text(finding.topic);
            object["text"] = json_text(finding.text);
            object["repair"] =
                finding.repair.empty() ? boost::json::value() : json_text(finding.repair);
            object["repaired"] = finding.repaired;
            findings.push_back(std::move(object));
        }
        context.print(boost::json::object{{"address", json_text(address)},
                                          {"ok", std::ranges::none_of(findings_, is_trouble)},
                                          {"findings", std::move(findings)}});
    }

    bool fix_ = false;
    std::vector<Finding> findings_;
};

}  // namespace

std::unique_ptr<Command> make_doctor() { return std::make_unique<Doctor>(); }

}  // namespace rollcall::cli
