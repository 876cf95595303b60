#include "cli/settings.hpp"

#include <fstream>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "cli/exit_code.hpp"
#include "support/redis_server.hpp"

namespace rollcall::cli {
namespace {

using namespace std::chrono_literals;

class SettingsTest : public testing::Test {
protected:
    SettingsTest() { variables_["XDG_CONFIG_HOME"] = folder_.path().string(); }

    std::string config_path() const { return folder_.path() / "rollcall" / "config.toml"; }

    void write_config(std::string const& text) const {
        std::filesystem::create_directories(folder_.path() / "rollcall");
        std::ofstream{config_path()} << text;
    }

    Settings resolve() const {
        return Settings::resolve(given_, [this](std::string const& name) {
            auto const found = variables_.find(name);
            return found == variables_.end() ? std::nullopt : std::optional{found->second};
        });
    }

    std::string message() const {
        try {
            resolve();
        } catch (UsageError const& error) {
            return error.what();
        }
        return {};
    }

    test::TemporaryFolder folder_;
    GivenOptions given_;
    std::map<std::string, std::string> variables_;
};

TEST_F(SettingsTest, HasDefaults) {
    auto const settings = resolve();
    EXPECT_EQ(settings.url, "");
    EXPECT_EQ(settings.layout, "streaming");
    EXPECT_EQ(settings.key_prefix, "");
    EXPECT_EQ(settings.lease, 90s);
    EXPECT_EQ(settings.output, Format::table);
    EXPECT_EQ(settings.timeout, 2s);
    EXPECT_EQ(settings.given_timeout, std::nullopt);
}

TEST_F(SettingsTest, TakesTheCommandLineBeforeVariablesBeforeTheFile) {
    write_config("lease = \"30s\"\noutput = \"wide\"\nnamespace = \"file\"\n");
    EXPECT_EQ(resolve().lease, 30s);
    variables_["ROLLCALL_LEASE"] = "40s";
    EXPECT_EQ(resolve().lease, 40s);
    given_["lease"] = "50s";
    auto const settings = resolve();
    EXPECT_EQ(settings.lease, 50s);
    EXPECT_EQ(settings.output, Format::wide);
    EXPECT_EQ(settings.key_prefix, "file");
}

TEST_F(SettingsTest, TakesEverySettingFromEverySource) {
    std::map<std::string, std::string> const values{
        {"url", "redis://h:1"}, {"layout", "streaming"}, {"namespace", "n"}, {"lease", "1m"},
        {"output", "json"},     {"timeout", "3s"},       {"host", "h"},      {"data", "/d"}};
    auto const expect_all = [&] {
        auto const settings = resolve();
        EXPECT_EQ(settings.url, "redis://h:1");
        EXPECT_EQ(settings.key_prefix, "n");
        EXPECT_EQ(settings.lease, 60s);
        EXPECT_EQ(settings.output, Format::json);
        EXPECT_EQ(settings.timeout, 3s);
        EXPECT_EQ(settings.host, "h");
        EXPECT_EQ(settings.data, "/d");
    };
    std::string file;
    for (auto const& [name, value] : values) file += name + " = '" + value + "'\n";
    write_config(file);
    expect_all();
    write_config("");
    for (auto const& [name, value] : values) {
        std::string variable = "ROLLCALL_";
        for (char const c : name) variable += static_cast<char>(std::toupper(c));
        variables_[variable] = value;
    }
    expect_all();
    variables_.clear();
    for (auto const& [name, value] : values) given_[name] = value;
    expect_all();
}

TEST_F(SettingsTest, CountsAnEmptyVariableAsNotSet) {
    variables_["ROLLCALL_LEASE"] = "";
    variables_["ROLLCALL_URL"] = "";
    EXPECT_EQ(resolve().lease, 90s);
    EXPECT_EQ(resolve().url, "");
}

TEST_F(SettingsTest, RefusesWhatIsEmptyOnTheCommandLineAndInTheFile) {
    for (std::string const name : {"url", "namespace", "host", "data"}) {
        given_ = {{name, ""}};
        EXPECT_EQ(message(), "--" + name + " \"\": must not be empty");
        given_.clear();
        write_config(name + " = ''\n");
        EXPECT_EQ(message(), config_path() + ":1: " + name + " \"\": must not be empty");
        write_config("");
    }
}

TEST_F(SettingsTest, OnlyTheCommandLineGivesATimeoutForTheWholeCommand) {
    variables_["ROLLCALL_TIMEOUT"] = "5s";
    EXPECT_EQ(resolve().timeout, 5s);
    EXPECT_EQ(resolve().given_timeout, std::nullopt);
    given_["timeout"] = "7s";
    EXPECT_EQ(resolve().given_timeout, 7s);
}

TEST_F(SettingsTest, NamesSourceValueAndRule) {
    given_["lease"] = "400ms";
    EXPECT_EQ(message(),
              "--lease \"400ms\": must be a duration such as 10s, 2m or 1h30m, from 1s "
              "to 30d, in whole seconds");
    given_.clear();
    variables_["ROLLCALL_OUTPUT"] = "yaml";
    EXPECT_EQ(message(), "ROLLCALL_OUTPUT \"yaml\": must be table, json or wide");
    variables_.erase("ROLLCALL_OUTPUT");
    write_config("\ntimeout = \"soon\"\n");
    EXPECT_TRUE(message().starts_with(config_path() + ":2: timeout \"soon\": must be a duration"))
        << message();
}

TEST_F(SettingsTest, KnowsTwoLayouts) {
    EXPECT_EQ(resolve().name_space(), "redis_streaming_registry");
    given_["layout"] = "cosky";
    EXPECT_EQ(resolve().name_space(), "cosky-{default}");
    EXPECT_EQ(resolve().lease, 60s) << "as that layout's programs have it";
    given_["lease"] = "20s";
    given_["namespace"] = "dev-{d}";
    EXPECT_EQ(resolve().lease, 20s);
    EXPECT_EQ(resolve().name_space(), "dev-{d}");
    given_["layout"] = "Streaming";
    EXPECT_EQ(message(), "--layout \"Streaming\": unknown layout; must be streaming or cosky");
}

TEST_F(SettingsTest, ADurationInTheFileMayBeANumberOfSeconds) {
    write_config("lease = 45\n");
    EXPECT_EQ(resolve().lease, 45s);
}

TEST_F(SettingsTest, ABrokenFileIsAnErrorWithItsLine) {
    write_config("lease = \"30s\"\noutput = \n");
    EXPECT_TRUE(message().starts_with(config_path() + ":2: ")) << message();
    write_config("lease = \"30s\"\n\nlaese = \"30s\"\n");
    EXPECT_EQ(message(), config_path() +
                             ":3 \"laese\": unknown key; known are url, layout, "
                             "namespace, lease, output, timeout, host, data");
    write_config("lease = [1]\n");
    EXPECT_EQ(message(), config_path() + ":1 \"lease\": the value must be a string or an integer");
    write_config("namespace = 5\n");
    EXPECT_EQ(message(), config_path() + ":1 \"namespace\": the value must be a string");
    write_config("[redis]\nurl = \"x\"\n");
    EXPECT_TRUE(message().starts_with(config_path() + ":1 \"redis\": unknown key")) << message();
    write_config("lease = \"\xFF\"\n");
    EXPECT_NE(message(), "") << "not UTF-8";
}

TEST_F(SettingsTest, AFileThatWasNamedMustBeThere) {
    given_["config"] = "/nonexistent/rollcall.toml";
    EXPECT_EQ(message(),
              "--config \"/nonexistent/rollcall.toml\": cannot be read: No such file or directory");
    given_["config"] = folder_.path();
    EXPECT_TRUE(message().ends_with("cannot be read: Is a directory")) << message();
    given_.clear();
    variables_["ROLLCALL_CONFIG"] = "/nonexistent/rollcall.toml";
    EXPECT_TRUE(message().starts_with("ROLLCALL_CONFIG \"/nonexistent/rollcall.toml\": cannot"));
}

TEST_F(SettingsTest, AFileWithoutAnEndIsRefused) {
    given_["config"] = "/dev/zero";
    EXPECT_EQ(message(), "--config \"/dev/zero\": must be a regular file");
    auto const pipe = (folder_.path() / "pipe").string();
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    given_["config"] = pipe;
    EXPECT_TRUE(message().ends_with("must be a regular file")) << message();
    auto const large = (folder_.path() / "large").string();
    std::ofstream{large} << std::string((1 << 20) + 1, '\n');
    given_["config"] = large;
    EXPECT_TRUE(message().ends_with("must not be larger than 1 MiB")) << message();
}

TEST_F(SettingsTest, ANamedFileReplacesTheUsualOne) {
    write_config("lease = \"30s\"\n");
    auto const other = (folder_.path() / "other.toml").string();
    std::ofstream{other} << "output = \"json\"\n";
    given_["config"] = other;
    EXPECT_EQ(resolve().lease, 90s);
    EXPECT_EQ(resolve().output, Format::json);
}

TEST_F(SettingsTest, FindsItsFoldersByXdgVariablesOrHome) {
    auto const environment = [this](std::string const& name) -> std::optional<std::string> {
        auto const found = variables_.find(name);
        if (found == variables_.end()) return std::nullopt;
        return found->second;
    };
    variables_ = {{"HOME", "/home/u"}};
    EXPECT_EQ(default_config_path(environment), "/home/u/.config/rollcall/config.toml");
    EXPECT_EQ(default_data_folder(environment), "/home/u/.local/share/rollcall");
    variables_["XDG_CONFIG_HOME"] = "/c";
    variables_["XDG_DATA_HOME"] = "/d";
    EXPECT_EQ(default_config_path(environment), "/c/rollcall/config.toml");
    EXPECT_EQ(default_data_folder(environment), "/d/rollcall");
    variables_["XDG_DATA_HOME"] = "relative";
    EXPECT_EQ(default_data_folder(environment), "/home/u/.local/share/rollcall");
    variables_.clear();
    EXPECT_EQ(default_config_path(environment), "");
    EXPECT_THROW(default_data_folder(environment), UsageError);
}

}  // namespace
}  // namespace rollcall::cli
