// One list of all peers: those of libraries, and the copies of the literature.
#include "bench/peers/peers.hpp"

#include "machine/cpu.hpp"

// CMakeLists.txt here writes packaged.inc, a macro for each library: FOUND with a symbol that has
// memcpy's arguments, or MISSING with the reason.
#define MISSING(name, reason)
#define FOUND(name, symbol, needs, description)                                                    \
    void* symbol(void* destination, const void* source, std::size_t bytes);
extern "C" {
#include "peers/packaged.inc"
}
#undef FOUND
#undef MISSING

namespace asterope {

// Renderings are the copies of the literature, which we wrote anew, some in the instructions of the
// architecture. Each ignores its last argument and copies any size at any misalignment. It reads
// only the source and writes only the destination, within `bytes`.
#define RENDERING(name, function, needs, description)                                              \
    void* function(void* destination, const void* source, std::size_t bytes, std::size_t);
namespace peers {
RENDERING("byte_by_byte", copy_byte_by_byte, "", "")
#include "renderings.inc"
} // namespace peers
#undef RENDERING

namespace {

using namespace peers;

/// Casts by way of void*: the function never looks at the extra argument of CopyFunction. Unused
/// where no library was found.
[[maybe_unused]] CopyFunction as_copy(void* (*function)(void*, const void*, std::size_t)) {
    return reinterpret_cast<CopyFunction>(reinterpret_cast<void*>(function));
}

} // namespace

std::vector<Peer> built_in_peers() {
    const Cpu cpu = read_cpu();
    const auto peer = [&](const char* name, const std::string& description, CopyFunction copy,
                          const std::string& needs) -> Peer {
        const bool runs = needs.empty() || has_feature(cpu, needs);
        return {name, description, copy, runs ? "" : "this CPU lacks " + needs};
    };
#define MISSING(name, reason) Peer{name, "", nullptr, reason},
#define FOUND(name, symbol, needs, description) peer(name, description, as_copy(symbol), needs),
#define RENDERING(name, function, needs, description) peer(name, description, function, needs),
    return {RENDERING("byte_by_byte", copy_byte_by_byte, "",
                      "byte by byte, as in 'Going faster than memcpy'")
#include "peers/packaged.inc"
#include "renderings.inc"
    };
#undef RENDERING
#undef FOUND
#undef MISSING
}

} // namespace asterope
