// What --version prints: version, commit, compiler, and what was not measured.
#pragma once

#include <string>

namespace asterope {

/// "asterope-tune 0.1.0 (commit 0da0f6b, gcc 12.2.0)" of `program`. The commit is that of the last
/// build, "-dirty" where files differed from it, "unknown" where the sources are no Git checkout.
/// A second line where this project has measured no speed on such processors.
std::string version_text(const char* program);

} // namespace asterope
