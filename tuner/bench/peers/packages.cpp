// The copies of libraries that were found when the build was configured: CMakeLists.txt here lists
// them in packaged.inc, a macro each.
#include "bench/peers/packages.hpp"

#define MISSING(name, reason)
#define FOUND(name, symbol, needs, description)                                                    \
    void* symbol(void* destination, const void* source, std::size_t bytes);
extern "C" {
#include "peers/packaged.inc"
}
#undef FOUND
#undef MISSING

namespace asterope::peers {

std::vector<KnownPeer> packaged_peers() {
#define MISSING(name, reason)
#define FOUND(name, symbol, needs, description) {{name, description, as_copy(symbol)}, needs},
    return {
#include "peers/packaged.inc"
    };
#undef FOUND
#undef MISSING
}

std::vector<MissingPeer> missing_packages() {
#define MISSING(name, reason) {name, reason},
#define FOUND(name, symbol, needs, description)
    return {
#include "peers/packaged.inc"
    };
#undef FOUND
#undef MISSING
}

} // namespace asterope::peers
