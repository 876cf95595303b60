#include "cli/command_line.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rollcall::cli {
namespace {

using testing::HasSubstr;
using testing::StartsWith;
using Arguments = std::vector<std::string>;

std::string message(Arguments const& arguments) {
    try {
        parse_command_line(arguments);
    } catch (UsageError const& error) {
        return error.what();
    }
    return {};
}

std::string command(Arguments const& arguments) {
    auto const line = parse_command_line(arguments);
    return line.row ? std::string{line.row->name} : "";
}

TEST(CommandLine, TakesCommonOptionsBeforeAndBehindTheCommand) {
    for (Arguments const& arguments : {Arguments{"--output", "json", "list", "web"},
                                       Arguments{"list", "--output", "json", "web"},
                                       Arguments{"list", "web", "--output", "json"},
                                       Arguments{"list", "web", "--output=json"}}) {
        auto const line = parse_command_line(arguments);
        EXPECT_EQ(line.row->name, "list");
        EXPECT_EQ(line.settings, (GivenOptions{{"output", "json"}}));
    }
}

TEST(CommandLine, FindsTheCommandBehindValuesThatLookLikeOne) {
    EXPECT_EQ(command({"--namespace", "list", "services"}), "services");
    EXPECT_EQ(command({"list", "list"}), "list");
    EXPECT_EQ(command({"list", "services"}), "list");
    EXPECT_EQ(command({"wait", "--count", "2", "run"}), "wait");
    EXPECT_EQ(command({"metadata", "set", "--service", "set", "--id", "clear", "a=b"}),
              "metadata set");
}

TEST(CommandLine, AnOptionNeverSwallowsTheArgumentBehindItsValue) {
    EXPECT_EQ(command({"list", "--where", "region==eu", "web"}), "list");
    EXPECT_EQ(command({"list", "--where", "a==b", "--where", "c==d", "web", "--metric", "cpu<1"}),
              "list");
    EXPECT_EQ(message({"list", "--where=", "web"}), "") << "an empty value is a value";
}

TEST(CommandLine, AnEmptyValueIsNotAnAbsentOne) {
    EXPECT_EQ(message({"heartbeat", "--service", "s", "--id", "a", "--every", ""}),
              "--every: must not be empty");
    EXPECT_EQ(message({"register", "--service", "s", "--port", "1", "--id="}),
              "--id: must not be empty");
    EXPECT_EQ(message({"run", "--service", "s", "--port", "1", "--check=", "--", "x"}),
              "--check: must not be empty");
}

TEST(CommandLine, SuggestsTheNearestCommand) {
    EXPECT_EQ(message({"lst", "web"}), "unknown command 'lst'; did you mean 'list'?");
    EXPECT_EQ(message({"metdata", "set"}), "unknown command 'metdata'; did you mean 'metadata'?");
    EXPECT_EQ(message({"frobnicate"}), "unknown command 'frobnicate'");
}

TEST(CommandLine, KnowsNoOtherCommandOfAGroup) {
    EXPECT_EQ(message({"metadata", "foo"}), "unknown command 'metadata foo'");
    EXPECT_EQ(message({"metadata", "--output", "json", "st", "--service", "s"}),
              "unknown command 'metadata st'; did you mean 'set'?");
    EXPECT_THAT(message({"metadata", "--service", "s"}), HasSubstr("must be named"));
}

TEST(CommandLine, ExplainsOneCommandOnly) {
    EXPECT_EQ(message({"help", "list", "extra"}), "unexpected argument 'extra'");
    EXPECT_EQ(message({"help", "metadata", "set", "a=b"}), "unexpected argument 'a=b'");
    EXPECT_EQ(message({"help", "metadata", "set"}), "");
    EXPECT_EQ(message({"help", "metadata"}), "");
    EXPECT_EQ(message({"help"}), "");
}

TEST(CommandLine, ShowsAsOptionalOnlyWhatIs) {
    struct {
        Arguments words;
        std::string_view usage;
    } const table[] = {
        {{"list"}, "list [OPTIONS] SERVICE\n"},
        {{"weight"}, "weight [OPTIONS] --service NAME --id ID N\n"},
        {{"heartbeat"}, "heartbeat [OPTIONS] --service NAME --id ID…\n"},
        {{"metadata"}, "metadata COMMAND [OPTIONS]\n"},
        {{"metadata", "set"}, "metadata set [OPTIONS] --service NAME --id ID KEY=VALUE…\n"},
        {{"run"}, "run [OPTIONS] --service NAME --port PORT -- COMMAND [ARGUMENT]…\n"},
        {{"services"}, "services [OPTIONS]\n"},
    };
    for (auto const& [words, usage] : table) {
        auto arguments = words;
        arguments.emplace_back("--help");
        EXPECT_THAT(parse_command_line(arguments).help,
                    HasSubstr("Usage: rollcall " + std::string{usage}));
    }
    EXPECT_EQ(message({"heartbeat", "--service", "s"}), "--id: must be given");
}

TEST(CommandLine, TakesTheTimeoutOfWaitOnce) {
    EXPECT_THAT(parse_command_line({"wait", "--help"}).help, HasSubstr("(30s)"));
    for (Arguments const& arguments : {Arguments{"wait", "web", "--timeout", "1s"},
                                       Arguments{"--timeout", "1s", "wait", "web"}}) {
        EXPECT_EQ(parse_command_line(arguments).settings, (GivenOptions{{"timeout", "1s"}}));
    }
    EXPECT_EQ(message({"--timeout", "1s", "wait", "web", "--timeout", "1s"}),
              "--timeout: given more than once");
}

TEST(CommandLine, SuggestsTheNearestOption) {
    EXPECT_EQ(message({"register", "--servce", "s"}),
              "unknown option '--servce'; did you mean '--service'?");
    EXPECT_EQ(message({"list", "web", "--outptu=json"}),
              "unknown option '--outptu'; did you mean '--output'?");
    EXPECT_EQ(message({"list", "web", "-x"}), "unknown option '-x'");
}

TEST(CommandLine, NeverShowsAPassword) {
    for (Arguments const& arguments :
         {Arguments{"list", "web", "redis://u:secret@h"}, Arguments{"--ulr", "redis://u:secret@h"},
          Arguments{"list", "web", "--ulr=redis://u:secret@h"}, Arguments{"redis://u:secret@h"}}) {
        auto const text = message(arguments);
        EXPECT_NE(text, "");
        EXPECT_EQ(text.find("secret"), std::string::npos) << text;
    }
}

TEST(CommandLine, SaysWhatIsMissing) {
    EXPECT_EQ(message({"list"}), "SERVICE: must be given");
    EXPECT_EQ(message({"register", "--id", "a"}), "--service: must be given");
    EXPECT_EQ(message({"deregister", "--service", "s", "--id", ""}), "--id: must not be empty");
    EXPECT_EQ(message({"run", "--service", "s", "--port", "1"}),
              "COMMAND: must be given behind '--'");
    EXPECT_EQ(message({"run", "--service", "s", "--port", "1", "--"}),
              "COMMAND: must be given behind '--'");
    EXPECT_EQ(message({"metadata", "set", "--service", "s", "--id", "i"}),
              "KEY=VALUE: must be given");
    EXPECT_THAT(message({"metadata"}), StartsWith("metadata: one of its commands must be named"));
    EXPECT_NE(message({"list", "web", "--output"}), "");
}

TEST(CommandLine, RefusesWhatIsTooMuch) {
    EXPECT_EQ(message({"list", "web", "extra"}), "unexpected argument 'extra'");
    EXPECT_EQ(message({"services", "extra"}), "unexpected argument 'extra'");
    EXPECT_EQ(message({"deregister", "--service", "a", "--service", "b", "--id", "i"}),
              "--service: given more than once");
    EXPECT_EQ(message({"--output", "json", "list", "web", "--output", "wide"}),
              "--output: given more than once");
}

TEST(CommandLine, LeavesNegativeNumbersToTheCommand) {
    EXPECT_EQ(message({"weight", "--service", "s", "--id", "i", "-5"}), "");
    EXPECT_EQ(message({"list", "web", "--lease", "-5s"}), "");
}

TEST(CommandLine, LeavesTheCommandBehindTheDashesAlone) {
    EXPECT_EQ(message({"run", "--service", "s", "--port", "1", "--metadata", "a=b", "--", "prog",
                       "--metadata", "c=d", "--", "[x,y]", "--help"}),
              "");
}

TEST(CommandLine, TakesPositionalArgumentsBehindTheDashes) {
    EXPECT_EQ(command({"list", "--", "web"}), "list");
    EXPECT_EQ(message({"list", "--", "web", "--all"}), "unexpected argument '--all'");
}

TEST(CommandLine, PrintsHelpWithAnExampleForEachCommand) {
    EXPECT_FALSE(parse_command_line({}).has_command);
    EXPECT_THAT(parse_command_line({"--help"}).help, HasSubstr("Exit codes"));
    EXPECT_THAT(parse_command_line({"--help"}).help, HasSubstr("streaming or cosky"));
    for (auto const& row : command_table()) {
        Arguments words;
        std::string const name{row.name};
        auto const space = name.find(' ');
        words.push_back(name.substr(0, space));
        if (space != std::string::npos) words.push_back(name.substr(space + 1));
        EXPECT_THAT(parse_command_line({"--help"}).help, HasSubstr(words.front()));
        words.emplace_back("--help");
        auto const help = parse_command_line(words).help;
        EXPECT_THAT(help, HasSubstr("Usage: rollcall " + name + " ")) << name;
        EXPECT_THAT(help, HasSubstr(std::string{row.example})) << name;
        EXPECT_THAT(help, HasSubstr(std::string{row.summary})) << name;
        words.pop_back();
        words.insert(words.begin(), "help");
        EXPECT_EQ(parse_command_line(words).help, help);
    }
}

TEST(CommandLine, PrintsTheVersionAsAnOptionToo) {
    EXPECT_THAT(parse_command_line({"--version"}).help, StartsWith("rollcall "));
}

}  // namespace
}  // namespace rollcall::cli
