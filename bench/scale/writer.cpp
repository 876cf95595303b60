#include "scale/writer.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <fcntl.h>
#include <spawn.h>
#include <stdexcept>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <system_error>
#include <thread>
#include <unistd.h>

#include "rollcall/registry.hpp"

namespace rollcall::bench {
namespace {

using Clock = std::chrono::steady_clock;

ServiceInstance instance_of(Fleet const& fleet, std::size_t number) {
    ServiceInstance instance;
    instance.service_name = fleet.service_name(number % fleet.services);
    auto const place = number / fleet.services;
    instance.host = "10." + std::to_string(place / 62'500 % 250) + '.' +
                    std::to_string(place / 250 % 250) + '.' + std::to_string(place % 250 + 1);
    instance.port = 8080;
    instance.metadata = {{"version", "1.4.2"}, {"zone", "zone-" + std::to_string(number % 3)}};
    return instance;
}

}  // namespace

Layout Fleet::make_layout() const {
    return layout == "cosky" ? cosky_layout() : streaming_layout();
}

std::string Fleet::service_name(std::size_t number) const {
    return "service-" + std::to_string(number);
}

Writer::Writer(Fleet const& fleet, std::string const& url) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) {
        throw std::system_error{errno, std::generic_category(), "pipe2"};
    }
    std::vector<std::string> words{"/proc/self/exe",
                                   std::string{writer_option},
                                   url,
                                   fleet.layout,
                                   std::to_string(fleet.instances),
                                   std::to_string(fleet.services),
                                   std::to_string(fleet.heartbeat.count())};
    std::vector<char*> texts;
    texts.reserve(words.size() + 1);
    for (auto& word : words) texts.push_back(word.data());
    texts.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    int const error = ::posix_spawn(&pid_, texts.front(), &actions, nullptr, texts.data(), environ);
    ::posix_spawn_file_actions_destroy(&actions);
    ::close(ends[1]);
    output_ = ends[0];
    if (error != 0) throw std::system_error{error, std::generic_category(), "the writer"};
}

Writer::~Writer() {
    ::close(output_);
    if (pid_ < 0) return;
    ::kill(pid_, SIGKILL);
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
}

std::chrono::duration<double> Writer::registered() const {
    std::string said;
    char part[64];
    while (!said.ends_with('\n')) {
        auto const size = ::read(output_, part, sizeof part);
        if (size < 0 && errno == EINTR) continue;
        if (size <= 0) throw std::runtime_error{"the writer has ended"};
        said.append(part, static_cast<std::size_t>(size));
    }
    return std::chrono::duration<double>{std::stod(said)};
}

int run_writer(std::vector<std::string> const& arguments) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    Fleet fleet;
    fleet.layout = arguments.at(1);
    fleet.instances = std::stoul(arguments.at(2));
    fleet.services = std::stoul(arguments.at(3));
    fleet.heartbeat = std::chrono::seconds{std::stol(arguments.at(4))};
    RegistryOptions options;
    options.heartbeat = fleet.heartbeat;
    Client const client{arguments.at(0)};
    Registry const registry{client, fleet.make_layout(), options};
    std::vector<Announcement> announcements;
    announcements.reserve(fleet.instances);
    auto const begun = Clock::now();
    for (std::size_t number = 0; number < fleet.instances; ++number) {
        announcements.push_back(registry.announce(instance_of(fleet, number)));
    }
    for (auto const& announcement : announcements) {
        while (!announcement.registered())
            std::this_thread::sleep_for(std::chrono::milliseconds{1});
    }
    std::printf("%.3f\n", std::chrono::duration<double>{Clock::now() - begun}.count());
    std::fflush(stdout);
    for (;;) ::pause();
}

}  // namespace rollcall::bench
