#pragma once

#include <boost/json/value.hpp>
#include <chrono>
#include <filesystem>
#include <gtest/gtest.h>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

#include "support/redis_server.hpp"

namespace rollcall::test {

/// What a run of the program left behind.
struct Outcome {
    int code = -1;  ///< 128 + the signal that ended it.
    std::string out = {};
    std::string err = {};

    /// The one JSON document that `out` is; throws when it is not.
    boost::json::value json() const;
};

struct ProgramOptions {
    std::vector<std::string> arguments = {};
    std::map<std::string, std::string> environment = {};  ///< All of it, besides PATH.
    std::filesystem::path folder = {};                    ///< For what it prints.
    std::optional<int> output = {};                       ///< Its standard output, if not a file.
    std::filesystem::path terminal = {};  ///< Becomes its controlling terminal and its input.
    bool behind_leader = false;       ///< Leads no session: a shell does, which passes hang-ups on.
    bool takes_orphans = false;       ///< As the first process of a container does.
    std::optional<int> hand_on = {};  ///< A further descriptor; it gets no others.
    std::vector<int> closed = {};     ///< Standard streams that it does not get.
};

/// The program under test as a process; killed with its owner, and with the test.
class Program {
public:
    explicit Program(ProgramOptions const& options);
    ~Program();
    Program(Program&&) noexcept;
    Program& operator=(Program&&) = delete;

    pid_t pid() const noexcept { return pid_; }
    void signal(int number) const;
    bool running();
    std::string out() const;
    std::string err() const;

    /// Waits for its end; a test failure when it does not come within `limit`.
    Outcome wait(std::chrono::milliseconds limit = std::chrono::seconds{30});

private:
    std::filesystem::path out_file_;
    std::filesystem::path err_file_;
    pid_t pid_ = -1;
    std::optional<int> code_;
};

/// Runs the program against a redis-server of its own, with a home folder of its own.
class CliTest : public testing::Test {
protected:
    using Arguments = std::vector<std::string>;

    CliTest();
    ~CliTest() override;

    RedisServer& server() { return *server_; }
    RedisClient redis() { return RedisClient{*server_}; }
    std::filesystem::path const& home() const noexcept { return home_.path(); }
    std::map<std::string, std::string>& environment() noexcept { return environment_; }

    ProgramOptions options(Arguments arguments) const;
    Program start(Arguments arguments) { return Program{options(std::move(arguments))}; }
    Outcome run(Arguments arguments) { return start(std::move(arguments)).wait(); }
    /// The same, where anything but exit code 0 fails the test.
    Outcome must(Arguments const& arguments);

    /// `list SERVICE --output json`, with further arguments.
    boost::json::array list(std::string const& service, Arguments further = {});
    std::size_t count(std::string const& service) { return list(service).size(); }

    /// This test program in the role of a supervised command: see `child.hpp`.
    static Arguments child(Arguments arguments);
    /// A port that only a listener with SO_REUSEADDR can take until the test ends.
    int free_port();

private:
    TemporaryFolder home_;
    std::unique_ptr<RedisServer> server_;
    std::map<std::string, std::string> environment_;
    std::vector<int> reserved_;
};

}  // namespace rollcall::test
