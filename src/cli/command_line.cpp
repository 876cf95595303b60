#include "cli/command_line.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>
#include <numeric>

#include "cli/print/text.hpp"

#include "rollcall/version.hpp"

namespace rollcall::cli {

namespace {

using Arguments = std::vector<std::string>;

/// The common options: each takes one value.
struct CommonOption {
    std::string_view name;
    std::string_view type;
    std::string_view help;
};

constexpr CommonOption common_options[] = {
    {"url", "URL",
     "Redis: redis://[user:password@]host[:port][/db] or unix://[user:password@]/path[?db=N]; "
     "prefer ROLLCALL_URL for one with a password"},
    {"layout", "NAME", "how the registry is stored: streaming or cosky (streaming)"},
    {"namespace", "PREFIX", "key prefix of the registry; in the layout cosky its namespace"},
    {"lease", "TIME",
     "how long an instance lives without heartbeats, the same for all (90s; cosky: 60s)"},
    {"output", "FORMAT", "table, json or wide"},
    {"timeout", "TIME", "limit of each request to Redis (2s)"},
    {"config", "FILE", "config file instead of $XDG_CONFIG_HOME/rollcall/config.toml"},
};

/// An option with values: where they go, and how often it may come.
struct ValueOption {
    CLI::Option* option = nullptr;
    std::string* single = nullptr;
    Arguments* many = nullptr;
    bool required = false;
};

/// An option whose values are left as they are in `results()`: what CLI11 converts into
/// containers, it also splits and unescapes.
CLI::Option* add_raw(CLI::App& app, std::string const& names, std::string const& type,
                     std::string const& help) {
    auto* option = app.add_option(names, [](CLI::results_t const&) { return true; }, help);
    return option->type_name(type)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

/// A help whose usage line is ours: what must be given is checked here, so that CLI11 would show it
/// as optional.
class HelpWithUsage final : public CLI::Formatter {
public:
    explicit HelpWithUsage(std::string usage) : usage_(std::move(usage)) {}

    std::string make_usage(CLI::App const*, std::string name) const override {
        return fmt::format("Usage: {} {}\n", name, usage_);
    }

private:
    std::string usage_;
};

class Cli11Options final : public OptionSet {
public:
    explicit Cli11Options(CLI::App& app) : app_(app) {}

    void flag(std::string const& names, bool& into, std::string const& help) override {
        app_.add_flag(names, into, help);
    }
    void value(std::string const& names, std::string& into, std::string const& type,
               std::string const& help) override {
        values_.push_back({add_raw(app_, names, type, help), &into, nullptr, false});
    }
    void required(std::string const& names, std::string& into, std::string const& type,
                  std::string const& help) override {
        auto* option = add_raw(app_, names, type, help + " (required)");
        values_.push_back({option, &into, nullptr, true});
        usage_ += fmt::format(" {} {}", names, type);
    }
    void required_many(std::string const& names, Arguments& into, std::string const& type,
                       std::string const& help) override {
        auto* option = add_raw(app_, names, type, help + " (required); may be repeated");
        values_.push_back({option, nullptr, &into, true});
        usage_ += fmt::format(" {} {}…", names, type);
    }
    void repeated(std::string const& names, Arguments& into, std::string const& type,
                  std::string const& help) override {
        auto* option = add_raw(app_, names, type, help + "; may be repeated");
        values_.push_back({option, nullptr, &into, false});
    }
    void positional(std::string const& name, std::string& into, std::string const& help) override {
        positional_ = {add_raw(app_, name, "", help), &into, nullptr, true};
        usage_ += " " + name;
    }
    void positionals(std::string const& name, Arguments& into, std::string const& help) override {
        positional_ = {add_raw(app_, name, "", help), nullptr, &into, true};
        usage_ += " " + name + "…";
    }
    void any_positionals(std::string const& name, Arguments& into,
                         std::string const& help) override {
        positional_ = {add_raw(app_, name, "", help), nullptr, &into, false};
        usage_ += " [" + name + "]…";
    }
    void setting(std::string const& name, std::string const& type,
                 std::string const& help) override {
        settings_.push_back(add_raw(app_, "--" + name, type, help));
    }
    void rest(std::string const& name, Arguments& into, std::string const& help) override {
        // Shown in the help; the arguments themselves never pass through CLI11.
        add_raw(app_, name, "", help);
        usage_ += " -- " + name + " [ARGUMENT]…";
        rest_name_ = name;
        rest_ = &into;
    }

    /// What follows the name of the command in its usage line.
    std::string const& usage() const { return usage_; }
    std::vector<CLI::Option*> const& settings() const { return settings_; }
    bool takes_rest() const { return rest_ != nullptr; }
    void set_rest(Arguments rest) {
        if (rest.empty()) throw UsageError{rest_name_ + ": must be given behind '--'"};
        *rest_ = std::move(rest);
    }

    /// Hands the values on; `extras` are positional arguments that CLI11 left over.
    void finish(Arguments const& extras) {
        for (auto const& value : values_) {
            take(value, value.option->results(), value.option->get_name());
        }
        if (!positional_.option) {
            if (!extras.empty()) refuse_extra(extras.front());
            return;
        }
        auto all = positional_.option->results();
        all.insert(all.end(), extras.begin(), extras.end());
        if (positional_.single && all.size() > 1) refuse_extra(all[1]);
        take(positional_, all, positional_.option->get_name());
    }

private:
    [[noreturn]] static void refuse_extra(std::string const& argument) {
        throw UsageError{fmt::format("unexpected argument '{}'", without_credentials(argument))};
    }

    static void take(ValueOption const& value, Arguments const& given, std::string const& name) {
        if (value.required && given.empty()) throw UsageError{name + ": must be given"};
        if (value.many) {
            *value.many = given;
            return;
        }
        if (given.size() > 1) throw UsageError{name + ": given more than once"};
        if (given.empty()) return;
        if (given.front().empty()) throw UsageError{name + ": must not be empty"};
        *value.single = given.front();
    }

    CLI::App& app_;
    std::vector<ValueOption> values_;
    std::vector<CLI::Option*> settings_;
    ValueOption positional_;  // At most one.
    std::string usage_ = "[OPTIONS]";
    std::string rest_name_;
    Arguments* rest_ = nullptr;
};

std::size_t distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (char const c : a) {
        auto diagonal = row[0]++;
        for (std::size_t j = 0; j < b.size(); ++j) {
            auto const replaced = diagonal + (c == b[j] ? 0 : 1);
            diagonal = row[j + 1];
            row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
        }
    }
    return row.back();
}

std::string suggestion(std::string const& word, std::vector<std::string> const& known) {
    auto const near = nearest(word, known);
    return near.empty() ? "" : "; did you mean '" + near + "'?";
}

bool is_option(std::string const& argument) {
    return argument.size() > 1 && argument[0] == '-' && (argument[1] < '0' || argument[1] > '9');
}

/// How many arguments, from the one at the front, belong to a common option: 0 for another word.
std::size_t common_length(std::string const& argument) {
    if (!is_option(argument)) return 0;
    bool const takes_value = std::ranges::any_of(common_options, [&](CommonOption const& option) {
        return argument == fmt::format("--{}", option.name);
    });
    return takes_value ? 2 : 1;
}

struct Words {
    CommandRow const* row = nullptr;
    std::string group = {};  ///< The first word of two-word commands, when only that was given.
};

/// What stands before the first option that is not a common one: behind that, a word may be its
/// value.
std::vector<std::string> first_words(Arguments const& arguments) {
    std::vector<std::string> words;
    for (std::size_t i = 0; i < arguments.size();) {
        auto const length = common_length(arguments[i]);
        if (length == 0) words.push_back(arguments[i]);
        if (length == 1 && arguments[i].find('=') == std::string::npos) break;
        i += std::max<std::size_t>(length, 1);
    }
    return words;
}

[[noreturn]] void refuse_command(std::string const& name, std::string const& word,
                                 std::vector<std::string> const& known) {
    throw UsageError{
        fmt::format("unknown command '{}'{}", without_credentials(name), suggestion(word, known))};
}

Words find_command(Arguments const& arguments) {
    auto const words = first_words(arguments);
    if (words.empty()) return {};
    std::vector<std::string> known;
    std::vector<std::string> in_group;
    for (auto const& row : command_table()) {
        std::string const name{row.name};
        auto const space = std::min(name.find(' '), name.size());
        known.push_back(name.substr(0, space));
        if (known.back() != words[0]) continue;
        if (space == name.size()) return {&row, {}};
        in_group.push_back(name.substr(space + 1));
        if (words.size() > 1 && in_group.back() == words[1]) return {&row, {}};
    }
    if (in_group.empty()) refuse_command(words[0], words[0], known);
    if (words.size() > 1) refuse_command(words[0] + ' ' + words[1], words[1], in_group);
    return {nullptr, words[0]};
}

/// Behind `help` stands one command, and nothing for it to work on.
void refuse_more_than_a_command(Arguments const& arguments) {
    auto const words = first_words(arguments);
    auto const* row = find_command(arguments).row;
    std::size_t const named = row && row->name.find(' ') != std::string_view::npos ? 2 : 1;
    if (words.size() <= named) return;
    throw UsageError{fmt::format("unexpected argument '{}'", without_credentials(words[named]))};
}

class Parser {
public:
    Parser() : app_("A service registry on Redis.", "rollcall") {
        prepare(app_);
        app_.require_subcommand(0, 1);
        app_.set_help_flag("-h,--help", "print this help");
        app_.add_flag("--version", version_, "print the version");
        for (auto const& option : common_options) {
            common_.push_back(add_raw(app_, fmt::format("--{}", option.name),
                                      std::string{option.type}, std::string{option.help}));
        }
        app_.footer(
            "Common options stand before or behind the command; each can also come from "
            "ROLLCALL_<NAME>\nor from the config file. A TIME is such as 400ms, 10s or 1h30m. "
            "'rollcall COMMAND --help' explains a "
            "command.\n\nExit codes: 0 done, 1 failed, 2 bad usage or input, 3 not found, 4 Redis "
            "unreachable, 5 timed out.");
        for (auto const& row : command_table()) add(row);
        app_.formatter(std::make_shared<HelpWithUsage>("COMMAND [OPTIONS]"));
    }

    CommandLine parse(Arguments arguments) {
        auto const words = find_command(arguments);
        auto* selected = words.row ? &entries_.at(words.row) : nullptr;
        auto rest = cut_rest(arguments);

        run_cli11(arguments);
        CommandLine line;
        if (help_requested_ || version_) {
            // Of the innermost command that was named.
            line.help = help_requested_ ? app_.help() : fmt::format("rollcall {}\n", version());
            return line;
        }
        if (!words.group.empty()) {
            throw UsageError{
                fmt::format("{}: one of its commands must be named; see 'rollcall {} "
                            "--help'",
                            words.group, words.group)};
        }
        auto extras = plain_extras(selected ? selected->app : &app_);
        take_settings(common_, line.settings);
        if (!selected) {
            line.help = app_.help();
            line.has_command = false;
            return line;
        }
        if (selected->options->takes_rest()) {
            selected->options->set_rest(std::move(rest));
        } else {
            extras.insert(extras.end(), rest.begin(), rest.end());
        }
        selected->options->finish(extras);
        take_settings(selected->options->settings(), line.settings);
        line.command = std::move(selected->command);
        line.row = words.row;
        return line;
    }

private:
    struct Entry {
        CLI::App* app = nullptr;
        std::unique_ptr<Command> command;
        std::unique_ptr<Cli11Options> options;
    };

    /// Leaves every complaint to us, whose messages are the program's own.
    static void prepare(CLI::App& app) {
        app.allow_extras();
        app.fallthrough();
    }

    CLI::App* subcommand(CLI::App& parent, std::string const& name, std::string const& summary) {
        auto* app = parent.add_subcommand(name, summary);
        prepare(*app);
        app->set_help_flag("-h,--help", "print this help");
        return app;
    }

    void add(CommandRow const& row) {
        std::string const name{row.name};
        auto const space = name.find(' ');
        auto* parent = &app_;
        if (space != std::string::npos) {
            auto const group = name.substr(0, space);
            auto& known = groups_[group];
            if (!known) known = subcommand(app_, group, "change the " + group + " of an instance");
            known->require_subcommand(0, 1);
            known->formatter(std::make_shared<HelpWithUsage>("COMMAND [OPTIONS]"));
            parent = known;
        }
        auto* app = subcommand(*parent, name.substr(space == std::string::npos ? 0 : space + 1),
                               std::string{row.summary});
        app->footer(
            fmt::format("Example:\n  {}\n\nThe common options (--url, --output …) are in "
                        "'rollcall --help'.\nA TIME is such as 400ms, 10s or 1h30m.",
                        row.example));
        Entry entry{app, row.make(), std::make_unique<Cli11Options>(*app)};
        entry.command->declare(*entry.options);
        app->formatter(std::make_shared<HelpWithUsage>(entry.options->usage()));
        entries_.emplace(&row, std::move(entry));
    }

    static Arguments cut_rest(Arguments& arguments) {
        auto const mark = std::ranges::find(arguments, "--");
        if (mark == arguments.end()) return {};
        Arguments rest(mark + 1, arguments.end());
        arguments.erase(mark, arguments.end());
        return rest;
    }

    void run_cli11(Arguments const& arguments) {
        Arguments reversed;
        for (auto const& argument : arguments) {
            // CLI11 would take the next argument as the value of `--name=`.
            if (is_option(argument) && argument.back() == '=' &&
                argument.find('=') == argument.size() - 1) {
                reversed.push_back(argument.substr(0, argument.size() - 1));
                reversed.emplace_back();
            } else {
                reversed.push_back(argument);
            }
        }
        std::ranges::reverse(reversed);
        try {
            app_.parse(reversed);
        } catch (CLI::CallForHelp const&) {
            help_requested_ = true;
        } catch (CLI::ParseError const& error) {
            throw UsageError{without_credentials(error.what())};
        }
    }

    /// What CLI11 took for no option and no first positional; an option there is unknown.
    Arguments plain_extras(CLI::App const* command) const {
        auto const extras = app_.remaining(true);
        auto const unknown = std::ranges::find_if(extras, is_option);
        if (unknown == extras.end()) return extras;
        auto const name = unknown->substr(0, unknown->find('='));
        throw UsageError{fmt::format("unknown option '{}'{}", without_credentials(name),
                                     suggestion(name, option_names(command)))};
    }

    std::vector<std::string> option_names(CLI::App const* command) const {
        std::vector<std::string> names;
        for (auto const* app : {command, &app_}) {
            for (auto const* option : app->get_options()) {
                for (auto const& name : option->get_lnames()) names.push_back("--" + name);
            }
        }
        return names;
    }

    static void take_settings(std::vector<CLI::Option*> const& options, GivenOptions& into) {
        for (auto const* option : options) {
            auto const& given = option->results();
            if (given.size() > 1) throw UsageError{option->get_name() + ": given more than once"};
            if (given.empty()) continue;
            auto const name = option->get_name().substr(2);
            if (!into.emplace(name, given.front()).second) {
                throw UsageError{option->get_name() + ": given more than once"};
            }
        }
    }

    CLI::App app_;
    std::vector<CLI::Option*> common_;
    std::map<CommandRow const*, Entry> entries_;
    std::map<std::string, CLI::App*> groups_;
    bool version_ = false;
    bool help_requested_ = false;
};

}  // namespace

std::string nearest(std::string const& word, std::vector<std::string> const& known) {
    std::string best;
    auto least = std::max<std::size_t>(word.size() / 3, 1) + 1;
    for (auto const& candidate : known) {
        if (auto const d = distance(word, candidate); d < least) {
            least = d;
            best = candidate;
        }
    }
    return best;
}

CommandLine parse_command_line(std::vector<std::string> const& arguments) {
    auto words = arguments;
    // `rollcall help list` is what people type.
    if (!words.empty() && words.front() == "help") {
        words.erase(words.begin());
        refuse_more_than_a_command(words);
        words.emplace_back("--help");
    }
    return Parser{}.parse(std::move(words));
}

}  // namespace rollcall::cli
