#pragma once

#include <string>
#include <string_view>

#include "cli/exit_code.hpp"

namespace rollcall::cli {

/// Nobody reads any more: the program ends quietly.
class ClosedPipe : public CommandError {
public:
    ClosedPipe() : CommandError(Exit::failed, "the output was closed") {}
};

/// What the program prints for its user: unbuffered, and never in part without an error.
class Output {
public:
    explicit Output(int descriptor);

    /// Errors: `ClosedPipe`; `CommandError` for a full disk and the like.
    void write(std::string_view text);

    /// A terminal that takes colours, and no `NO_COLOR`.
    bool colour() const noexcept { return colour_; }

private:
    int descriptor_;
    bool colour_;
};

}  // namespace rollcall::cli
