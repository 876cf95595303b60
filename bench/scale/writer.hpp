#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

#include "rollcall/layout.hpp"

namespace rollcall::bench {

/// What is registered.
struct Fleet {
    std::string layout = "streaming";
    std::size_t instances = 100'000;
    std::size_t services = 100;
    std::chrono::seconds heartbeat{10};

    Layout make_layout() const;
    std::string service_name(std::size_t number) const;
};

/// A process that registers a fleet and keeps it alive; killed with this object.
class Writer {
public:
    Writer(Fleet const& fleet, std::string const& url);
    ~Writer();
    Writer(Writer const&) = delete;
    Writer& operator=(Writer const&) = delete;

    /// Waits until all is registered: how long that took, from the first announcement on. Throws
    /// when the process has ended.
    std::chrono::duration<double> registered() const;
    pid_t pid() const noexcept { return pid_; }

private:
    pid_t pid_ = -1;
    int output_ = -1;
};

/// The first argument of the program as that process.
inline constexpr std::string_view writer_option = "--writer";

/// What the process does with the arguments behind that one.
int run_writer(std::vector<std::string> const& arguments);

}  // namespace rollcall::bench
