// Shares are even or in chunks of a few sizes, over powers of two of threads and over all.
#include "search/threads_search.hpp"

#include "base/size_text.hpp"
#include "space/limits.hpp"

namespace asterope {

namespace {

/// Until another thread begins, the caller alone copies less than this.
constexpr std::size_t kSharedMinimum = std::size_t{256} << 10;

/// Chunks are so small that threads do not wait long for the last one. They are so large that their
/// heads, tails and fences do not show.
constexpr std::size_t kChunks[] = {kLeastChunk, std::size_t{256} << 10, std::size_t{1} << 20};

} // namespace

std::string name_of(const ThreadShare& share) {
    return "threads " + std::to_string(share.threads) +
           (share.chunk ? " chunk " + format_size(share.chunk) : " even");
}

std::vector<ThreadShare> all_shares(unsigned most) {
    std::vector<ThreadShare> shares = {{}};
    const auto add = [&](unsigned threads) {
        shares.push_back({threads, 0});
        for (const std::size_t chunk : kChunks) shares.push_back({threads, chunk});
    };
    for (unsigned threads = 2; threads < most; threads *= 2) add(threads);
    if (most > 1) add(most);
    return shares;
}

bool is_tried(const ThreadShare& share, std::size_t size) {
    return size >= kSharedMinimum && share.threads > 1 && share.chunk * share.threads < size;
}

} // namespace asterope
