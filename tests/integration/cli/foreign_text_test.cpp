// What others write into the registry neither drives a terminal nor breaks a table or a document.

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fcntl.h>
#include <fstream>
#include <gmock/gmock.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "cli/print/text.hpp"
#include "core/text.hpp"
#include "program.hpp"

namespace rollcall::test {
namespace {

using namespace std::chrono_literals;

constexpr auto prefix = "redis_streaming_registry:services";

class ForeignTextTest : public CliTest {
protected:
    /// As a peer without manners would store it.
    void plant(std::string const& service, std::string const& id,
               std::vector<std::pair<std::string, std::string>> const& fields) {
        auto client = redis();
        client.must({"SADD", prefix, service});
        client.must({"ZADD", std::string{prefix} + ":" + service + ":heartbeats",
                     std::to_string(now()), id});
        std::vector<std::string> command{"HSET",
                                         std::string{prefix} + ":" + service + ":instance:" + id};
        for (auto const& [field, value] : fields) command.insert(command.end(), {field, value});
        client.must(command);
        client.must({"PEXPIRE", command[1], "60000"});
    }

    void plant_instance(std::string const& service, std::string const& id,
                        std::string const& host = "h", std::string const& metadata = "{}") {
        plant(service, id,
              {{"host", host}, {"port", "80"}, {"protocol", "http"}, {"metadata", metadata}});
    }

    long long now() {
        auto const time = redis().must({"TIME"}).texts();
        return std::stoll(time[0]) * 1'000 + std::stoll(time[1]) / 1'000;
    }
};

bool is_safe(std::string const& text) {
    for (std::size_t at = 0; at < text.size();) {
        auto const begin = at;
        auto const c = next_code_point(text, at);
        if (c == U'\n') continue;
        if (is_control(c)) return false;
        if (c == U'\uFFFD' && text.substr(begin, at - begin) != "\xEF\xBF\xBD") return false;
    }
    return true;
}

std::vector<std::string> lines(std::string const& text) {
    std::vector<std::string> result;
    for (std::size_t begin = 0; begin < text.size();) {
        auto const end = text.find('\n', begin);
        result.push_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    return result;
}

std::vector<std::string> const nasty{"\x1b[2J",
                                     "bell\a",
                                     "a\rb",
                                     "a\nb",
                                     "a\tb",
                                     "del\x7f",
                                     "\302\23331m",
                                     "\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\",
                                     "\x1b]52;c;eA==\a",
                                     "\xE2\x80\xAErlo",
                                     "\xE2\x81\xA6lri",
                                     "日本語",
                                     "e\xCC\x81",
                                     "😀",
                                     "\xFF\xFE"};

// Card BC-05.
TEST_F(ForeignTextTest, TablesStayTables) {
    int number = 0;
    for (auto const& text : nasty) {
        plant_instance("web", "id" + text, "h" + text, R"({"k":"v"})");
        plant_instance("service" + text, "one" + std::to_string(number++));
    }
    plant_instance("web", "meta", "h", R"({"k\u001b[2J":"v\u202e\r\n\u009b","日":"本"})");
    for (Arguments const& arguments :
         {Arguments{"services"}, Arguments{"list", "web", "--all"},
          Arguments{"list", "web", "--all", "--output", "wide"}, Arguments{"stat"}}) {
        auto const outcome = run(arguments);
        EXPECT_EQ(outcome.code, 0) << outcome.err;
        EXPECT_TRUE(is_safe(outcome.out)) << arguments.front() << ": " << outcome.out;
        EXPECT_TRUE(is_safe(outcome.err)) << outcome.err;
    }
    auto const table = lines(must({"list", "web", "--all"}).out);
    ASSERT_EQ(table.size(), nasty.size() + 2) << "one line a row";
    auto const position = cli::columns(table[0].substr(0, table[0].find("ADDRESS")));
    for (std::size_t i = 1; i < table.size(); ++i) {
        auto const at = table[i].find("  http://");
        ASSERT_NE(at, std::string::npos) << table[i];
        EXPECT_EQ(cli::columns(table[i].substr(0, at)) + 2, position) << table[i];
    }
    auto const doctor = run({"doctor"});
    EXPECT_TRUE(is_safe(doctor.out)) << doctor.out;
    EXPECT_TRUE(is_safe(doctor.err)) << doctor.err;
}

TEST_F(ForeignTextTest, JsonKeepsTheDataExactly) {
    std::string const id = "i\x1b[2J\a\r\n\t\x7f\xC2\x9B\xE2\x80\xAE日";
    plant_instance("web", id, "h\x1b", R"({"k\u0000":"v\u202e"})");
    auto const outcome = must({"list", "web", "--all", "--output", "json"});
    EXPECT_TRUE(is_safe(outcome.out)) << outcome.out;
    auto const instance = outcome.json().as_array().at(0);
    EXPECT_EQ(instance.at("id").as_string(), id);
    EXPECT_EQ(instance.at("host").as_string(), "h\x1b");
    EXPECT_EQ(instance.at("metadata").at(boost::json::string_view{"k\0", 2}).as_string(),
              "v\xE2\x80\xAE");
}

TEST_F(ForeignTextTest, ErrorsAreSafeToo) {
    auto const file = (home() / "bad.toml").string();
    std::ofstream{file} << "\"k\\u001b[2J\\u202e\" = 1\n";
    for (Arguments const& arguments :
         {Arguments{"list", "x\x1b[2J"}, Arguments{"list", "x", "y\x1b[2J"}, Arguments{"l\x1b[2J"},
          Arguments{"list", "--w\x1b[2J"},
          Arguments{"register", "--service", "s", "--port", "1", "--host", "a\x1b[1A"},
          Arguments{"register", "--service", "s", "--port", "1\n2", "--host", "a"},
          Arguments{"services", "--output", "j\r\n"}, Arguments{"services", "--config", file},
          Arguments{"services", "--config", "/x\x1b[2J"}, Arguments{"services", "--url", "x\a://"},
          Arguments{"services", "--namespace", "n\x1b"},
          Arguments{"deregister", "--service", "s", "--id", "i\xE2\x80\xAE"}}) {
        auto const outcome = run(arguments);
        EXPECT_TRUE(is_safe(outcome.out)) << outcome.out;
        EXPECT_TRUE(is_safe(outcome.err)) << outcome.err;
        EXPECT_EQ(lines(outcome.err).size(), 1u) << outcome.err;
    }
}

// Card BC-04.
TEST_F(ForeignTextTest, OutputIsOneDocumentWhateverIsStored) {
    redis().must({"CONFIG", "SET", "maxmemory-policy", "allkeys-lru"});
    plant("web", "phantom", {{"healthy", "false"}});
    redis().must({"ZADD", std::string{prefix} + ":web:heartbeats", std::to_string(now()), "bare"});
    plant_instance("web", "bytes", "h", "{\"k\":\"\xFF\xFE\"}");
    plant_instance("web", "broken", "h", "{\"k\":");
    redis().must({"SET", std::string{prefix} + ":web:instance:wrong", "a string"});
    redis().must({"ZADD", std::string{prefix} + ":web:heartbeats", std::to_string(now()), "wrong"});
    for (Arguments const& arguments :
         {Arguments{"services"}, Arguments{"list", "nosuch"}, Arguments{"list", "web", "--all"},
          Arguments{"list", "web"}, Arguments{"stat"}, Arguments{"doctor"}, Arguments{"cleanup"},
          Arguments{"version"}}) {
        auto with_json = arguments;
        with_json.insert(with_json.end(), {"--output", "json"});
        auto const outcome = run(with_json);
        EXPECT_NO_THROW(outcome.json()) << arguments.front() << ": " << outcome.out;
        EXPECT_EQ(lines(outcome.out).size(), 1u);
        EXPECT_TRUE(is_utf8(outcome.out));
        EXPECT_EQ(outcome.code, arguments.front() == "doctor" ? 1 : 0) << outcome.err;
    }
    EXPECT_EQ(list("nosuch").size(), 0u);
}

TEST_F(ForeignTextTest, AClosedPipeEndsTheProgramQuietly) {
    for (int i = 0; i < 200; ++i) plant_instance("web", "id" + std::to_string(i));
    int ends[2];
    ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    ::close(ends[0]);
    auto closed = options({"list", "web", "--all", "--output", "json"});
    closed.output = ends[1];
    auto const outcome = Program{closed}.wait();
    EXPECT_EQ(outcome.code, 128 + SIGPIPE);
    EXPECT_EQ(outcome.err, "");
}

TEST_F(ForeignTextTest, AFullDiskIsAnError) {
    auto const full = ::open("/dev/full", O_WRONLY | O_CLOEXEC);
    ASSERT_GE(full, 0);
    auto disk = options({"version"});
    disk.output = full;
    auto const outcome = Program{disk}.wait();
    EXPECT_EQ(outcome.code, 1);
    EXPECT_EQ(outcome.err, "rollcall: cannot write the output: No space left on device\n");
}

}  // namespace
}  // namespace rollcall::test
