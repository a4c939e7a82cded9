// Runs another program and waits for it.
#pragma once

#include <string>
#include <vector>

namespace asterope {

/// Runs `words[0]`, looked for on the PATH unless it has a slash, with the other words as its
/// arguments. `silent`: what it prints on stdout and stderr is thrown away. Returns its exit code,
/// or 128 + the signal that ended it. Throws std::system_error where it cannot be started.
int run_program(std::vector<std::string> words, bool silent = false);

} // namespace asterope
