// What --version prints: version, commit, compiler, and what was not measured.
#pragma once

#include <string>

namespace asterope {

/// "asterope-tune 0.1.0 (commit 0da0f6b, gcc 12.2.0)" of `program`. The commit is that of the last
/// build, "-dirty" where files differed from it, "unknown" without a Git checkout. A second line
/// says where this project has measured no speed on such processors.
std::string version_text(const char* program);

} // namespace asterope
