// What --version prints: version, commit and compiler.
#include "version_text.hpp"

#include "commit.hpp"
#include "version.hpp"

namespace asterope {

std::string version_text(const char* program) {
    return std::string(program) + ' ' + kVersion + " (commit " + kCommit + ", " + kCompiler + ')';
}

} // namespace asterope
