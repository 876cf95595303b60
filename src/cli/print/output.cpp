#include "cli/print/output.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

namespace rollcall::cli {

namespace {

bool takes_colour(int descriptor) {
    auto const* refused = std::getenv("NO_COLOR");
    auto const* terminal = std::getenv("TERM");
    return !(refused && *refused) && isatty(descriptor) && terminal &&
           std::strcmp(terminal, "dumb") != 0;
}

}  // namespace

Output::Output(int descriptor) : descriptor_(descriptor), colour_(takes_colour(descriptor)) {}

void Output::write(std::string_view text) {
    while (!text.empty()) {
        auto const written = ::write(descriptor_, text.data(), text.size());
        if (written >= 0) {
            text.remove_prefix(static_cast<std::size_t>(written));
        } else if (errno == EPIPE) {
            throw ClosedPipe{};
        } else if (errno != EINTR) {
            throw CommandError{Exit::failed,
                               std::string{"cannot write the output: "} + std::strerror(errno)};
        }
    }
}

}  // namespace rollcall::cli
