// What --version prints: version, commit, compiler, and what was not measured.
#include "version/version_text.hpp"

#include "base/version.hpp"
#include "machine/cpu.hpp"
#include "version/commit.hpp"

namespace asterope {

std::string version_text(const char* program) {
    std::string text =
        std::string(program) + ' ' + kVersion + " (commit " + kCommit + ", " + kCompiler + ')';
    if (*kMeasuredHere) text += std::string("\n") + kMeasuredHere;
    return text;
}

} // namespace asterope
