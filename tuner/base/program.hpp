// Other programs: running one, and the folder that this one lies in.
#pragma once

#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

namespace asterope {

/// Runs `words[0]`, looked for on the PATH unless it has a slash, with the other words as its
/// arguments. `silent`: what it prints on stdout and stderr is thrown away. Returns its exit code,
/// or 128 + the signal that ended it. Throws std::system_error where it cannot be started.
int run_program(std::vector<std::string> words, bool silent = false);

/// Empty where /proc does not say.
inline std::filesystem::path program_folder() {
    std::error_code ignored;
    return std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path();
}

} // namespace asterope
