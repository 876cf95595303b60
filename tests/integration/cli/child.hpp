#pragma once

#include <string>
#include <vector>

namespace rollcall::test {

/// A command for `rollcall run` to supervise: this test program, started with `--supervised`.
///
/// Prints a line for what happens to it, to its standard output: `ready`, `signal N`. Words:
///   port=N         answers HTTP there: 200, or 503 while the file of `sick=` exists
///   mute           accepts and reads, but does not answer
///   late=MS        listens only after that time
///   linger=MS      serves so long after the first SIGTERM or SIGINT, then exits with `code=`
///   code=N         exit code (0)
///   crash=MS       aborts after that time
///   show           prints arguments, descriptors, signal mask and ignored signals, parent's death
///                  signal, process group; then exits with `code=`
///   grandchild     starts a process of its group that ends by signals only, and prints
///                  `grandchild PID`
///   orphan         leaves a process to whoever takes orphans in, which ends by itself, and prints
///                  `orphan PID`
int supervised(std::vector<std::string> const& words);

}  // namespace rollcall::test
