#pragma once

#include <string>
#include <vector>

namespace rollcall::cli {

/// Runs the program with the arguments behind its name; returns its exit code.
int run_program(std::vector<std::string> const& arguments);

/// Takes the arguments, and overwrites what may be a password where the process list shows it: in
/// every argument before `--`, what stands between `://` and the last `@`.
std::vector<std::string> take_arguments(int count, char** arguments);

/// Puts something in the place of each closed standard stream that fails as a closed one does: else
/// messages go into the next file or socket that is opened.
void occupy_standard_streams() noexcept;

}  // namespace rollcall::cli
