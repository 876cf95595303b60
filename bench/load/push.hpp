#pragma once

#include <string>
#include <vector>

namespace rollcall::bench {

/// What the process does whose registrations are heard of: see `push.cpp`. Returns its exit code.
int run_push_writer(std::vector<std::string> const& arguments);

/// The argument that makes this program that process.
inline constexpr char const* push_writer_option = "--push-writer";

}  // namespace rollcall::bench
