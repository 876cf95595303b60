#pragma once

#include <fstream>
#include <iterator>
#include <string>
#include <sys/types.h>

#include "program.hpp"

namespace rollcall::test {

/// Runs `rollcall run` with this test program as its command.
class RunTest : public CliTest {
protected:
    RunTest() : port_(free_port()) {}

    std::string port() const { return std::to_string(port_); }

    /// `run --service web` with further options and the words of the child.
    ProgramOptions supervised_options(Arguments further, Arguments words) {
        Arguments arguments{"run",    "--service", "web",     "--port", port(),
                            "--host", "127.0.0.1", "--lease", lease_};
        if (!id_.empty()) arguments.insert(arguments.end(), {"--id", id_});
        arguments.insert(arguments.end(), further.begin(), further.end());
        words.insert(words.begin(), "port=" + port());
        auto const command = child(std::move(words));
        arguments.insert(arguments.end(), command.begin(), command.end());
        return options(std::move(arguments));
    }
    Program supervise(Arguments further, Arguments words) {
        return Program{supervised_options(std::move(further), std::move(words))};
    }

    static pid_t child_of(Program const& program) {
        auto const pid = std::to_string(program.pid());
        std::ifstream file{"/proc/" + pid + "/task/" + pid + "/children"};
        pid_t child = 0;
        file >> child;
        return child;
    }
    /// `R`, `S`, `T`… as in proc(5).
    static char state_of(pid_t pid) {
        std::ifstream file{"/proc/" + std::to_string(pid) + "/stat"};
        std::string const text{std::istreambuf_iterator<char>{file}, {}};
        auto const end = text.rfind(") ");
        return end == std::string::npos ? '?' : text[end + 2];
    }

    bool listed(std::size_t expected = 1) {
        return eventually([&] { return count("web") == expected; }, std::chrono::seconds{10});
    }

    static bool says(Program const& program, std::string const& text) {
        return eventually([&] { return program.err().find(text) != std::string::npos; },
                          std::chrono::seconds{15});
    }

    int port_;
    std::string id_ = "web-one";  // Empty: the layout makes one.
    std::string lease_ = "3s";
};

}  // namespace rollcall::test
