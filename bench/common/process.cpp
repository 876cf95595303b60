#include "common/process.hpp"

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <malloc.h>
#include <sched.h>
#include <spawn.h>
#include <sstream>
#include <stdexcept>
#include <sys/resource.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>

namespace rollcall::bench {
namespace {

Microseconds cpu_of(rusage const& usage) {
    auto const time = [](timeval value) {
        return std::chrono::seconds{value.tv_sec} + std::chrono::microseconds{value.tv_usec};
    };
    return time(usage.ru_utime) + time(usage.ru_stime);
}

class Pipe {
public:
    Pipe() {
        if (::pipe(ends_) != 0) throw std::system_error{errno, std::generic_category(), "pipe"};
    }
    ~Pipe() {
        ::close(ends_[0]);
        close_writer();
    }
    Pipe(Pipe const&) = delete;
    Pipe& operator=(Pipe const&) = delete;

    int reader() const noexcept { return ends_[0]; }
    int writer() const noexcept { return ends_[1]; }
    void close_writer() {
        if (ends_[1] >= 0) ::close(ends_[1]);
        ends_[1] = -1;
    }

private:
    int ends_[2] = {-1, -1};
};

pid_t start(std::vector<std::string> const& arguments, Pipe const& output) {
    std::vector<char*> texts;
    texts.reserve(arguments.size() + 1);
    for (auto const& argument : arguments) texts.push_back(const_cast<char*>(argument.c_str()));
    texts.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, output.writer(), STDOUT_FILENO);
    ::posix_spawn_file_actions_addclose(&actions, output.reader());
    pid_t child = -1;
    int const error =
        ::posix_spawnp(&child, texts.front(), &actions, nullptr, texts.data(), environ);
    ::posix_spawn_file_actions_destroy(&actions);
    if (error != 0) throw std::system_error{error, std::generic_category(), arguments.front()};
    return child;
}

}  // namespace

Microseconds own_cpu() {
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    return cpu_of(usage);
}

Microseconds cpu_of(pid_t process) {
    auto const name = "/proc/" + std::to_string(process) + "/stat";
    std::ifstream in{name};
    std::string text;
    std::getline(in, text);
    // The second field is the program's name in brackets, and may hold anything.
    std::istringstream rest{text.substr(std::min(text.rfind(')') + 1, text.size()))};
    std::string skipped;
    for (int field = 3; field < 14; ++field) rest >> skipped;
    double user = 0;
    double system = 0;
    if (!(rest >> user >> system)) throw std::runtime_error{"cannot read " + name};
    return std::chrono::duration<double>{(user + system) /
                                         static_cast<double>(::sysconf(_SC_CLK_TCK))};
}

std::size_t resident_memory() { return resident_memory(::getpid()); }

std::size_t resident_memory(pid_t process) {
    auto const name = "/proc/" + std::to_string(process) + "/statm";
    std::ifstream in{name};
    std::size_t all = 0;
    std::size_t resident = 0;
    if (!(in >> all >> resident)) throw std::runtime_error{"cannot read " + name};
    return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

void give_back_memory() { ::malloc_trim(0); }

Cores::Cores() {
    cpu_set_t set;
    CPU_ZERO(&set);
    if (::sched_getaffinity(0, sizeof set, &set) != 0) return;
    for (int core = 0; core < CPU_SETSIZE; ++core) {
        if (CPU_ISSET(core, &set)) all_.push_back(core);
    }
}

void Cores::use_first() const { use(0, 1); }

void Cores::use_others() const { use(1, all_.size()); }

void Cores::use(std::size_t begin, std::size_t end) const {
    if (all_.size() < 2) return;
    cpu_set_t set;
    CPU_ZERO(&set);
    for (auto i = begin; i < end; ++i) CPU_SET(all_[i], &set);
    if (::sched_setaffinity(0, sizeof set, &set) != 0) {
        throw std::system_error{errno, std::generic_category(), "sched_setaffinity"};
    }
}

Ended run_program(std::vector<std::string> const& arguments) {
    Pipe pipe;
    auto const child = start(arguments, pipe);
    pipe.close_writer();
    Ended ended;
    char part[4096];
    for (;;) {
        auto const size = ::read(pipe.reader(), part, sizeof part);
        if (size < 0 && errno == EINTR) continue;
        if (size <= 0) break;
        ended.output.append(part, static_cast<std::size_t>(size));
    }
    int status = 0;
    rusage usage{};
    while (::wait4(child, &status, 0, &usage) < 0 && errno == EINTR) {
    }
    ended.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    ended.cpu = cpu_of(usage);
    return ended;
}

Ended must_run(std::vector<std::string> const& arguments) {
    auto ended = run_program(arguments);
    if (ended.status != 0) {
        throw std::runtime_error{arguments.front() + " ended with status " +
                                 std::to_string(ended.status) + ": " + ended.output};
    }
    return ended;
}

}  // namespace rollcall::bench
