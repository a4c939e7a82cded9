// Where the running program lies: what is installed or built with it is beside it.
#pragma once

#include <filesystem>
#include <system_error>

namespace asterope {

/// Empty where /proc does not say.
inline std::filesystem::path program_folder() {
    std::error_code ignored;
    return std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path();
}

} // namespace asterope
