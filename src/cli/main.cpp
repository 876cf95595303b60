#include "cli/program.hpp"

int main(int count, char** arguments) {
    // First of all: until here, the process list shows a password that came by --url.
    auto const taken = rollcall::cli::take_arguments(count, arguments);
    return rollcall::cli::run_program(taken);
}
