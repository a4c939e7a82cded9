// One list of all peers: the routines by the paper's profiles, and the copies of the literature.
#include "bench/peers/peers.hpp"

#include "machine/cpu.hpp"

namespace asterope {

// Renderings are the copies of the literature, which we wrote anew, some in the instructions of the
// architecture. Each ignores its last argument and copies any size at any misalignment. It reads
// only the source and writes only the destination, within `bytes`. The paper's routines are C, and
// have memcpy's arguments.
#define RENDERING(name, function, needs, description)                                              \
    void* function(void* destination, const void* source, std::size_t bytes, std::size_t);
#define PAPER(name, function, needs, description)                                                  \
    extern "C" void* function(void* destination, const void* source, std::size_t bytes);
namespace peers {
RENDERING("byte_by_byte", copy_byte_by_byte, "", "")
#include "renderings.inc"
} // namespace peers
#undef RENDERING
#undef PAPER

std::vector<Peer> built_in_peers() {
    using namespace peers;
    const Cpu cpu = read_cpu();
    const auto peer = [&](const char* name, const std::string& description, CopyFunction copy,
                          const std::string& needs) -> Peer {
        const bool runs = needs.empty() || has_feature(cpu, needs);
        return {name, description, copy, runs ? "" : "this CPU lacks " + needs};
    };
#define RENDERING(name, function, needs, description) peer(name, description, function, needs),
#define PAPER(name, function, needs, description) peer(name, description, as_copy(function), needs),
    return {RENDERING("byte_by_byte", copy_byte_by_byte, "",
                      "byte by byte, as in 'Going faster than memcpy'")
#include "renderings.inc"
    };
#undef RENDERING
#undef PAPER
}

} // namespace asterope
