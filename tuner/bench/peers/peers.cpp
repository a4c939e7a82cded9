// The copies that the routine is compared with: what people use, and what the literature describes.
#include "bench/peers/peers.hpp"

#include <utility>

#include "bench/peers/copies.hpp"
#include "bench/peers/packages.hpp"
#include "bench/peers/threads.hpp"
#include "machine/cpu.hpp"

extern "C" {
// rendered from generated/reference/*.json
void* asterope_paper_xeon_memcpy(void* destination, const void* source, std::size_t bytes);
void* asterope_paper_opteron_memcpy(void* destination, const void* source, std::size_t bytes);
}

namespace asterope {

namespace {

using namespace peers;

constexpr const char* kArticle = ", as in 'Going faster than memcpy'";

/// `over_threads` copies so too: the second of two peers.
void add_copier(std::vector<KnownPeer>& all, const std::string& name,
                const std::string& description, const std::string& needs, CopyFunction copy,
                CopyFunction over_threads) {
    all.push_back({{name, description + kArticle, copy}, needs});
    all.push_back({{name + "_threads", description + " over threads" + kArticle, over_threads, true,
                    kLeastOverThreads},
                   needs});
}

/// Whether this CPU can run them or not.
std::vector<KnownPeer> known_peers() {
    std::vector<KnownPeer> all;
    add_copier(all, "byte_by_byte", "byte by byte", "", copy_byte_by_byte,
               threaded<copy_byte_by_byte>);
    add_copier(all, "rep_movsb", "rep movsb", "", copy_rep_movsb, threaded<copy_rep_movsb>);
    add_copier(all, "rep_movsq", "rep movsq", "", copy_rep_movsq, threaded<copy_rep_movsq>);
    add_copier(all, "avx", "aligned AVX", "avx", copy_avx, threaded<copy_avx>);
    add_copier(all, "avx_streaming", "AVX with streaming stores", "avx", copy_avx_streaming,
               threaded<copy_avx_streaming>);
    add_copier(all, "avx_streaming_prefetch", "AVX with streaming stores and prefetch", "avx",
               copy_avx_streaming_prefetch, threaded<copy_avx_streaming_prefetch>);
    add_copier(all, "avx_unrolled", "AVX unrolled by four", "avx", copy_avx_unrolled,
               threaded<copy_avx_unrolled>);
    all.push_back(
        {{"l1_buffer", "through a buffer in the first cache (Intel, 2009)", copy_l1_buffer},
         "sse4_1"});
    all.push_back({{"prefetch_nt",
                    "prefetch ahead and non-temporal stores, after Polytropon (Kappes and "
                    "Anastasiadis, 2020)",
                    copy_prefetch_nt},
                   ""});
    all.push_back({{"paper_xeon", "Asterope's settings for the Intel Xeon Gold 5218 (PLOS 2021)",
                    as_copy(asterope_paper_xeon_memcpy)},
                   "avx"});
    all.push_back({{"paper_opteron", "Asterope's settings for the AMD Opteron 6378 (PLOS 2021)",
                    as_copy(asterope_paper_opteron_memcpy)},
                   ""});
    for (KnownPeer& peer : packaged_peers()) all.push_back(std::move(peer));
    return all;
}

bool runs(const Cpu& cpu, const KnownPeer& known) {
    return known.needs.empty() || has_feature(cpu, known.needs);
}

} // namespace

std::vector<Peer> built_in_peers() {
    const Cpu cpu = read_cpu();
    std::vector<Peer> peers;
    for (KnownPeer& known : known_peers()) {
        if (runs(cpu, known)) peers.push_back(std::move(known.peer));
    }
    return peers;
}

std::vector<MissingPeer> missing_peers() {
    const Cpu cpu = read_cpu();
    std::vector<MissingPeer> missing;
    for (const KnownPeer& known : known_peers()) {
        if (!runs(cpu, known)) {
            missing.push_back({known.peer.name, "this CPU lacks " + known.needs});
        }
    }
    for (MissingPeer& peer : missing_packages()) missing.push_back(std::move(peer));
    return missing;
}

} // namespace asterope
