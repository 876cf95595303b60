#include "support/golden_plan.hpp"

#include <algorithm>
#include <map>

namespace rollcall::test::golden {

namespace {

/// Number of arguments behind the reason, by kind of difference.
std::map<std::string, std::size_t, std::less<>> const difference_arity{
    {"keeps_field", 2},  {"keeps_key", 1},    {"field", 3},      {"field_now", 2},
    {"field_lease", 2},  {"no_field", 2},     {"expires", 2},    {"member_now", 2},
    {"no_member", 2},    {"no_key", 1},       {"no_message", 0}, {"message_first", 2},
    {"message_last", 2}, {"message_text", 2},
};

class PlanReader {
public:
    explicit PlanReader(std::string_view file) : file_(file) {}

    Plan read(std::vector<Record> const& records) {
        for (auto const& record : records) {
            line_ = record.line;
            take(record);
        }
        return std::move(plan_);
    }

private:
    using Arguments = std::vector<std::string>;

    [[noreturn]] void fail(std::string const& what) const { throw FormatError{file_, line_, what}; }

    void need(Record const& record, std::size_t count) const {
        if (record.arguments.size() != count) fail("wrong arguments of `" + record.word + '`');
    }

    long long number(std::string const& text) const {
        if (text.empty() || text.find_first_not_of("0123456789") != std::string::npos) {
            fail("`" + text + "` is no number");
        }
        return std::stoll(text);
    }

    bool on(std::string const& text) const {
        if (text != "on" && text != "off") fail("`" + text + "` is neither on nor off");
        return text == "on";
    }

    FilePlan& file() {
        if (plan_.empty()) fail("a record before the first `file`");
        return plan_.back();
    }

    StepPlan& step() {
        if (file().steps.empty()) fail("a record before the first `step`");
        return file().steps.back();
    }

    static std::string expanded(std::string const& text) {
        if (text.starts_with("P:")) return std::string{recorded_prefix} + text.substr(1);
        return text.starts_with("N:") ? std::string{recorded_namespace} + text.substr(1) : text;
    }

    void take(Record const& record) {
        auto const& word = record.word;
        if (word == "file") {
            need(record, 1);
            plan_.emplace_back().file = record.arguments[0];
        } else if (word == "heartbeats" || word == "lease" || word == "ages") {
            take_setting(record);
        } else if (word == "step") {
            need(record, 1);
            auto& added = file().steps.emplace_back();
            added.step = record.arguments[0];
            added.ages = file().ages;
            added.line = line_;
        } else if (word.starts_with("differs")) {
            take_difference(record);
        } else if (word == "known" || word.starts_with("input")) {
            take_input(record);
        } else {
            take_step_setting(record);
        }
    }

    void take_setting(Record const& record) {
        auto const& given = record.arguments;
        if (record.word == "lease") {
            need(record, 1);
            file().lease = number(given[0]);
        } else if (record.word == "ages") {
            need(record, 2);
            file().ages.newest = number(given[0]);
            file().ages.step = number(given[1]);
        } else {
            need(record, 6);
            if (given[0] != "interval" || given[2] != "detection" ||
                given[4] != "metadata_interval") {
                fail("heartbeats interval N detection on|off metadata_interval N");
            }
            file().heartbeat_interval = number(given[1]);
            file().metadata_change_detection = on(given[3]);
            file().metadata_update_interval = number(given[5]);
        }
    }

    void take_difference(Record const& record) {
        Difference difference;
        if (record.word == "differs_alone") {
            difference.when = Difference::When::alone;
        } else if (record.word == "differs_in_run") {
            difference.when = Difference::When::in_run;
        } else if (record.word != "differs") {
            fail("unknown record `" + record.word + '`');
        }
        if (record.arguments.size() < 2) fail("a difference has a reason and a kind");
        difference.why = record.arguments[0];
        difference.kind = record.arguments[1];
        difference.line = line_;
        auto const arity = difference_arity.find(difference.kind);
        if (arity == difference_arity.end()) fail("unknown difference `" + difference.kind + '`');
        need(record, 2 + arity->second);
        for (std::size_t i = 2; i < record.arguments.size(); ++i) {
            difference.arguments.push_back(expanded(record.arguments[i]));
        }
        step().differences.push_back(std::move(difference));
    }

    void take_input(Record const& record) {
        auto const& given = record.arguments;
        if (record.word == "input") {
            need(record, 2);
            step().inputs.emplace_back(given[0], given[1]);
            return;
        }
        need(record, 1);
        if (record.word == "input_id") {
            step().input_id = given[0];
        } else if (record.word == "input_ephemeral") {
            step().input_ephemeral = given[0];
        } else if (record.word == "known" && given[0] == "state") {
            step().known_state = true;
        } else if (record.word == "known" && given[0] == "input") {
            step().known_input = true;
        } else if (record.word == "known" && given[0] == "heartbeat") {
            step().known_heartbeat = true;
        } else if (record.word == "known" && given[0] == "deregistered") {
            step().known_deregistered = true;
        } else {
            fail("unknown record `" + record.word + ' ' + given[0] + '`');
        }
    }

    void take_step_setting(Record const& record) {
        auto const& word = record.word;
        auto const& given = record.arguments;
        if (word == "age") {
            need(record, 2);
            step().ages.of[given[0]] = number(given[1]);
            return;
        }
        if (word == "result_in_run") {
            need(record, 2);
            step().result_in_run = given[1];
            return;
        }
        if (word == "prepared_in_step") {
            need(record, 0);
            step().prepared_in_step = true;
            return;
        }
        need(record, 1);
        if (word == "play") {
            step().play = given[0];
        } else if (word == "outside") {
            step().outside = given[0];
        } else if (word == "variant") {
            step().variant = given[0];
        } else if (word == "result") {
            step().result = given[0];
        } else if (word == "auto_reregister") {
            step().auto_reregister = on(given[0]);
        } else if (word == "elapse") {
            step().elapse = number(given[0]);
        } else if (word == "expired") {
            step().expired.push_back(expanded(given[0]));
        } else {
            fail("unknown record `" + word + '`');
        }
    }

    std::string_view file_;
    std::size_t line_ = 0;
    Plan plan_;
};

/// Carries out one difference.
class Editor {
public:
    Editor(Expectation& expected, LiveKeys const& before, Difference const& difference)
        : expected_(expected), before_(before), arguments_(difference.arguments) {
        run(difference.kind);
    }

private:
    void run(std::string_view kind) {
        if (kind.starts_with("message") || kind == "no_message") {
            edit_messages(kind);
        } else if (kind == "keeps_key") {
            keep_key();
        } else if (kind == "no_key") {
            expected_.keys.erase(arguments_[0]);
        } else if (kind == "expires") {
            key().expiry =
                arguments_[1] == "-" ? Expiry{} : Expiry::set_in_step(std::stoll(arguments_[1]));
        } else if (kind == "member_now") {
            remove_member();
            key().scored.emplace_back(arguments_[1], now_mark);
        } else if (kind == "no_member") {
            remove_member();
            if (key().scored.empty() && key().members.empty()) expected_.keys.erase(arguments_[0]);
        } else {
            edit_field(kind);
        }
    }

    LiveKey& key() { return expected_.keys[arguments_[0]]; }

    void keep_key() {
        auto const old = before_.find(arguments_[0]);
        if (old == before_.end()) {
            expected_.keys.erase(arguments_[0]);
        } else {
            expected_.keys[arguments_[0]] = old->second;
        }
    }

    void remove_member() {
        std::erase_if(key().scored,
                      [&](auto const& entry) { return entry.first == arguments_[1]; });
        key().members.erase(arguments_[1]);
    }

    void edit_field(std::string_view kind) {
        auto& fields = key().fields;
        auto const& field = arguments_[1];
        if (kind == "field") {
            fields[field] = arguments_[2];
        } else if (kind == "field_now") {
            fields[field] = now_mark;
        } else if (kind == "field_lease") {
            fields[field] = lease_mark(before_.at(arguments_[0]).expiry.value);
        } else if (kind == "no_field") {
            fields.erase(field);
        } else {
            auto const old = before_.find(arguments_[0]);
            if (old == before_.end() || !old->second.fields.contains(field)) {
                fields.erase(field);
            } else {
                fields[field] = old->second.fields.at(field);
            }
        }
    }

    void edit_messages(std::string_view kind) {
        auto& messages = expected_.messages;
        if (kind == "no_message") {
            messages.clear();
        } else if (kind == "message_first") {
            messages.insert(messages.begin(), {arguments_[0], arguments_[1]});
        } else if (kind == "message_last") {
            messages.push_back({arguments_[0], arguments_[1]});
        } else {
            for (auto& message : messages) replace_all(message.payload);
        }
    }

    void replace_all(std::string& text) const {
        for (auto at = text.find(arguments_[0]); at != std::string::npos;
             at = text.find(arguments_[0], at + arguments_[1].size())) {
            text.replace(at, arguments_[0].size(), arguments_[1]);
        }
    }

    Expectation& expected_;
    LiveKeys const& before_;
    std::vector<std::string> const& arguments_;
};

}  // namespace

std::vector<StepPlan const*> FilePlan::find(std::string_view step) const {
    std::vector<StepPlan const*> found;
    for (auto const& plan : steps) {
        if (plan.step == step) found.push_back(&plan);
    }
    return found;
}

Plan parse_plan(std::string_view text, std::string_view file) {
    return PlanReader{file}.read(parse_records(text, file));
}

std::vector<std::string> gaps(Recording const& recording, FilePlan const& plan) {
    std::vector<std::string> found;
    for (auto const& step : recording.steps) {
        auto const plans = plan.find(step.name);
        auto const ordinary = std::count_if(plans.begin(), plans.end(),
                                            [](auto const* p) { return p->variant.empty(); });
        if (ordinary != 1) {
            found.push_back("step \"" + step.name + "\" has " + std::to_string(ordinary) +
                            " ordinary plans");
        }
    }
    for (auto const& step : plan.steps) {
        bool const recorded =
            std::any_of(recording.steps.begin(), recording.steps.end(),
                        [&](auto const& other) { return other.name == step.step; });
        if (!recorded) found.push_back("step \"" + step.step + "\" was not recorded");
        if (step.play.empty() == step.outside.empty()) {
            found.push_back("step \"" + step.step + "\" is neither played nor outside, or both");
        }
    }
    return found;
}

void apply_differences(Expectation& expected, LiveKeys const& before, StepPlan const& plan,
                       Difference::When when, std::string_view file) {
    for (auto const& difference : plan.differences) {
        if (difference.when != Difference::When::always && difference.when != when) continue;
        auto const old = expected;
        Editor{expected, before, difference};
        bool const must_matter =
            difference.when != Difference::When::always || when == Difference::When::alone;
        if (must_matter && old.keys == expected.keys && old.messages == expected.messages) {
            throw FormatError{file, difference.line, "this difference changes nothing"};
        }
    }
}

}  // namespace rollcall::test::golden
