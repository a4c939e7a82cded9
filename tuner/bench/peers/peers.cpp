// The copies that the routine is compared with: those that people use, and those that the
// literature describes.
#include "bench/peers/peers.hpp"

#include "bench/peers/copies.hpp"
#include "machine/cpu.hpp"

// CMakeLists.txt here writes packaged.inc, a macro for each library: FOUND with a symbol that has
// memcpy's arguments, or MISSING with the reason.
#define MISSING(name, reason)
#define FOUND(name, symbol, needs, description)                                                    \
    void* symbol(void* destination, const void* source, std::size_t bytes);
extern "C" {
// rendered from generated/reference/*.json
void* asterope_paper_xeon_memcpy(void* destination, const void* source, std::size_t bytes);
void* asterope_paper_opteron_memcpy(void* destination, const void* source, std::size_t bytes);
#include "peers/packaged.inc"
}
#undef FOUND
#undef MISSING

namespace asterope {

namespace {

using namespace peers;

/// By way of void*: the extra argument of CopyFunction is one that the function never looks at.
CopyFunction as_copy(void* (*function)(void*, const void*, std::size_t)) {
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
    const std::string article = ", as in 'Going faster than memcpy'";
    const std::string paper = "Asterope's settings for the ";
#define MISSING(name, reason) Peer{name, "", nullptr, reason},
#define FOUND(name, symbol, needs, description) peer(name, description, as_copy(symbol), needs),
    return {
        peer("byte_by_byte", "byte by byte" + article, copy_byte_by_byte, ""),
        peer("rep_movsb", "rep movsb" + article, copy_rep_movsb, ""),
        peer("rep_movsq", "rep movsq" + article, copy_rep_movsq, ""),
        peer("avx", "aligned AVX" + article, copy_avx, "avx"),
        peer("avx_streaming", "AVX with streaming stores" + article, copy_avx_streaming, "avx"),
        peer("avx_streaming_prefetch", "AVX with streaming stores and prefetch" + article,
             copy_avx_streaming_prefetch, "avx"),
        peer("avx_unrolled", "AVX unrolled by four" + article, copy_avx_unrolled, "avx"),
        peer("l1_buffer", "through a buffer in the first cache (Intel, 2009)", copy_l1_buffer,
             "sse4_1"),
        peer("prefetch_nt",
             "prefetch ahead and non-temporal stores, after Polytropon (Kappes and "
             "Anastasiadis, 2020)",
             copy_prefetch_nt, ""),
        peer("paper_xeon", paper + "Intel Xeon Gold 5218 (PLOS 2021)",
             as_copy(asterope_paper_xeon_memcpy), "avx"),
        peer("paper_opteron", paper + "AMD Opteron 6378 (PLOS 2021)",
             as_copy(asterope_paper_opteron_memcpy), ""),
#include "peers/packaged.inc"
    };
#undef FOUND
#undef MISSING
}

} // namespace asterope
