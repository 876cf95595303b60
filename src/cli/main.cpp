#include "cli/program.hpp"

int main(int count, char** arguments) {
    // First of all: until here, what we open may take the place of a closed standard stream, and
    // the process list shows a password that came by --url.
    rollcall::cli::occupy_standard_streams();
    auto const taken = rollcall::cli::take_arguments(count, arguments);
    return rollcall::cli::run_program(taken);
}
