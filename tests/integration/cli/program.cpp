#include "program.hpp"

#include <arpa/inet.h>
#include <boost/json/parse.hpp>
#include <csignal>
#include <fcntl.h>
#include <fstream>
#include <linux/close_range.h>
#include <stdexcept>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace rollcall::test {

namespace {

std::string contents(std::filesystem::path const& file) {
    std::ifstream in{file, std::ios::binary};
    return {std::istreambuf_iterator<char>{in}, {}};
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
    std::vector<char*> result;
    for (auto& text : texts) result.push_back(text.data());
    result.push_back(nullptr);
    return result;
}

/// In the child: a session of its own on that terminal.
void become_foreground_of(std::filesystem::path const& terminal) {
    ::setsid();
    auto const descriptor = ::open(terminal.c_str(), O_RDWR | O_CLOEXEC);
    ::ioctl(descriptor, TIOCSCTTY, 0);
    ::dup2(descriptor, STDIN_FILENO);
}

pid_t volatile job = 0;

/// In the child of a session leader: the parent plays the shell, which passes a hang-up on to its
/// job, and ends as that does.
void stay_behind() {
    auto const parent = ::getpid();
    auto const program = ::fork();
    if (program == 0) {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (::getppid() != parent) ::_exit(1);
        std::signal(SIGTTOU, SIG_IGN);
        ::setpgid(0, 0);
        ::tcsetpgrp(STDIN_FILENO, ::getpid());
        std::signal(SIGTTOU, SIG_DFL);
        return;
    }
    // The other end of the terminal is among them, whose last owner hangs up.
    ::close_range(0, ~0U, 0);
    job = program;
    std::signal(SIGHUP, [](int) { ::kill(job, SIGHUP); });
    int status = 0;
    while (::waitpid(program, &status, 0) < 0) continue;
    ::_exit(WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
}

int create(std::filesystem::path const& file) {
    return ::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

}  // namespace

boost::json::value Outcome::json() const {
    EXPECT_TRUE(out.ends_with('\n')) << out;
    return boost::json::parse(out);
}

Program::Program(ProgramOptions const& options) {
    static int number = 0;
    auto const name = std::to_string(++number);
    out_file_ = options.folder / ("out." + name);
    err_file_ = options.folder / ("err." + name);
    std::vector<std::string> arguments{ROLLCALL_PROGRAM};
    arguments.insert(arguments.end(), options.arguments.begin(), options.arguments.end());
    std::vector<std::string> environment{"PATH=" + std::string{::getenv("PATH")}};
    for (auto const& [key, value] : options.environment) environment.push_back(key + "=" + value);
    auto const argv = pointers(arguments);
    auto const envp = pointers(environment);
    auto const out = options.output ? *options.output : create(out_file_);
    auto const err = create(err_file_);
    auto const null = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    auto const parent = ::getpid();
    pid_ = ::fork();
    if (pid_ == 0) {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (::getppid() != parent) ::_exit(1);
        ::prctl(PR_SET_CHILD_SUBREAPER, options.takes_orphans ? 1 : 0);
        ::dup2(null, STDIN_FILENO);
        if (!options.terminal.empty()) become_foreground_of(options.terminal);
        if (options.behind_leader) stay_behind();
        ::dup2(out, STDOUT_FILENO);
        ::dup2(err, STDERR_FILENO);
        std::signal(SIGPIPE, SIG_DFL);
        ::close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);
        if (options.hand_on) ::fcntl(*options.hand_on, F_SETFD, 0);
        for (int const stream : options.closed) ::close(stream);
        ::execve(argv[0], argv.data(), envp.data());
        ::_exit(127);
    }
    for (int const descriptor : {out, err, null}) ::close(descriptor);
}

Program::~Program() {
    if (pid_ <= 0 || code_) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
}

Program::Program(Program&& other) noexcept
    : out_file_(std::move(other.out_file_)),
      err_file_(std::move(other.err_file_)),
      pid_(std::exchange(other.pid_, -1)),
      code_(other.code_) {}

void Program::signal(int number) const { ::kill(pid_, number); }

bool Program::running() {
    if (code_) return false;
    int status = 0;
    if (::waitpid(pid_, &status, WNOHANG) != pid_) return true;
    code_ = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    return false;
}

std::string Program::out() const { return contents(out_file_); }
std::string Program::err() const { return contents(err_file_); }

Outcome Program::wait(std::chrono::milliseconds limit) {
    if (!eventually([this] { return !running(); }, limit)) {
        ADD_FAILURE() << "still running after " << limit.count() << " ms; said: " << err();
        return {};
    }
    Outcome outcome{*code_, out(), err()};
    for (auto const* const report : {"Sanitizer:", "runtime error:"}) {
        EXPECT_EQ(outcome.err.find(report), std::string::npos) << outcome.err;
    }
    return outcome;
}

CliTest::CliTest() : server_(std::make_unique<RedisServer>()) {
    environment_ = {{"HOME", home().string()},
                    {"XDG_RUNTIME_DIR", home().string()},
                    {"ROLLCALL_URL", server_->url()}};
}

CliTest::~CliTest() {
    for (int const socket : reserved_) ::close(socket);
}

ProgramOptions CliTest::options(Arguments arguments) const {
    ProgramOptions result;
    result.arguments = std::move(arguments);
    result.environment = environment_;
    result.folder = home();
    return result;
}

Outcome CliTest::must(Arguments const& arguments) {
    auto outcome = run(arguments);
    EXPECT_EQ(outcome.code, 0) << arguments.front() << ": " << outcome.err;
    return outcome;
}

boost::json::array CliTest::list(std::string const& service, Arguments further) {
    Arguments arguments{"list", service, "--output", "json"};
    arguments.insert(arguments.end(), further.begin(), further.end());
    return must(arguments).json().as_array();
}

CliTest::Arguments CliTest::child(Arguments arguments) {
    arguments.insert(arguments.begin(),
                     {"--", std::filesystem::read_symlink("/proc/self/exe"), "--supervised"});
    return arguments;
}

int CliTest::free_port() {
    auto const socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    reserved_.push_back(socket);
    int const on = 1;
    ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    if (::bind(socket, reinterpret_cast<sockaddr*>(&address), size) != 0) {
        throw std::runtime_error{"no free port"};
    }
    ::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size);
    return ntohs(address.sin_port);
}

}  // namespace rollcall::test
