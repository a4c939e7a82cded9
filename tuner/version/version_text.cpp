// What --version prints: version, commit and compiler.
#include "version/version_text.hpp"

#include "base/version.hpp"
#include "version/commit.hpp"

namespace asterope {

std::string version_text(const char* program) {
    return std::string(program) + ' ' + kVersion + " (commit " + kCommit + ", " + kCompiler + ')';
}

} // namespace asterope
