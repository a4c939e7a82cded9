// Finds out from which size on several threads copy faster than one, how many, in which chunks.
#include "search/threads_search.hpp"

#include "base/size_text.hpp"

namespace asterope {

namespace {

/// Small enough that nobody waits long for the last one, large enough that heads, tails and fences
/// of the chunks do not show.
constexpr std::size_t kChunks[] = {std::size_t{64} << 10, std::size_t{256} << 10,
                                   std::size_t{1} << 20};

} // namespace

std::string share_name(const ThreadShare& share) {
    return "threads " + std::to_string(share.threads) +
           (share.chunk ? " chunk " + format_size(share.chunk) : " even");
}

std::vector<ThreadShare> shares_for(std::size_t size, unsigned most) {
    std::vector<unsigned> counts;
    for (unsigned threads = 2; threads < most; threads *= 2) counts.push_back(threads);
    if (most > 1) counts.push_back(most);
    std::vector<ThreadShare> shares;
    for (const unsigned threads : counts) {
        shares.push_back({threads, 0});
        for (const std::size_t chunk : kChunks) {
            if (chunk * threads < size) shares.push_back({threads, chunk});
        }
    }
    return shares;
}

SharedSize search_shares(const std::vector<ThreadShare>& shares, std::size_t size,
                         const Weights& weights, const Rigor& rigor, std::mt19937_64& random,
                         const TimedCopies& timings) {
    const std::vector<Entrant> everybody = all_entrants(shares.size() + 1);
    Race race(size, weights, random, timings.against(0));
    const SizeResult result = race.run_off(everybody, rigor.rounds, 0, 0);
    // The winner comes first, the others by rank: the best of several threads is one of two.
    const bool taken = result.finalists[0].candidate != 0;
    const Finalist& best = result.finalists[taken ? 0 : 1];
    return {size,           shares[static_cast<std::size_t>(best.candidate) - 1],
            taken,          best.ratio,
            best.workloads, result.noise_floor,
            result.rounds};
}

} // namespace asterope
