// Shards: the shares of one search that several equal machines do together.
#include "search/shard.hpp"

#include <algorithm>
#include <charconv>
#include <limits>

#include "base/error.hpp"

namespace asterope {

namespace {

/// Bytes that take as long again as a small size does. A trial of a small size lasts as long as is
/// wanted, whatever the size; that of a large one is one call. On a Granite Rapids server and on a
/// Zen 4, 16 MiB took 10 and 14 times as long as 4 KiB.
constexpr double kBytesOfOne = 1.5 * (1 << 20);

double cost(std::size_t size) {
    return 1 + static_cast<double>(size) / kBytesOfOne;
}

} // namespace

Shard parse_shard(std::string_view text) {
    const auto refuse = [&](const std::string& why) {
        return BadInput("shard '" + std::string(text.substr(0, 40)) + "' " + why);
    };
    Shard shard;
    const char* end = text.data() + text.size();
    const auto [slash, bad_index] = std::from_chars(text.data(), end, shard.index);
    if (bad_index != std::errc() || slash == end || *slash != '/') {
        throw refuse("is no pair of whole numbers: write I/N, such as 2/4");
    }
    const auto [rest, bad_count] = std::from_chars(slash + 1, end, shard.count);
    if (bad_count != std::errc() || rest != end) {
        throw refuse("is no pair of whole numbers: write I/N, such as 2/4");
    }
    if (shard.index < 1 || shard.index > shard.count) {
        throw refuse("is out of range: of " + std::to_string(shard.count) +
                     " shards, choose 1 to " + std::to_string(shard.count));
    }
    return shard;
}

ShardSizes deal_sizes(const std::vector<std::size_t>& sizes, Shard shard, double border_cost) {
    const std::size_t count = sizes.size(), shards = shard.count;
    if (shards > count) {
        throw BadInput("shard '" + shard.name() + "': " + std::to_string(count) +
                       " sizes are no work for " + std::to_string(shards) +
                       " shards: choose no more shards than sizes");
    }
    std::vector<double> before = {0}; // the cost of all sizes below
    for (const std::size_t size : sizes) before.push_back(before.back() + cost(size));
    const auto run = [&](std::size_t begin, std::size_t end) {
        return before[end] - before[begin] + (begin ? border_cost * cost(sizes[begin - 1]) : 0);
    };
    // longest[k][end]: of the first `end` sizes in k + 1 runs; begins[k][end]: where the last of
    // these runs begins. (Rejected: to fill one shard after the other up to the mean. The last one
    // gets what is left, which at 32 MiB and its like is a multiple of that.)
    constexpr double kNever = std::numeric_limits<double>::infinity();
    std::vector longest(shards, std::vector<double>(count + 1, kNever));
    std::vector begins(shards, std::vector<std::size_t>(count + 1, 0));
    for (std::size_t end = 1; end <= count; ++end) longest[0][end] = run(0, end);
    for (std::size_t k = 1; k < shards; ++k) {
        for (std::size_t end = k + 1; end <= count; ++end) {
            for (std::size_t begin = k; begin < end; ++begin) {
                const double most = std::max(longest[k - 1][begin], run(begin, end));
                if (most >= longest[k][end]) continue;
                longest[k][end] = most;
                begins[k][end] = begin;
            }
        }
    }
    std::size_t end = count;
    for (std::size_t k = shards - 1; k + 1 > shard.index; --k) end = begins[k][end];
    const std::size_t begin = begins[shard.index - 1][end];
    ShardSizes dealt;
    dealt.own.assign(sizes.begin() + static_cast<std::ptrdiff_t>(begin),
                     sizes.begin() + static_cast<std::ptrdiff_t>(end));
    if (begin > 0) dealt.border = sizes[begin - 1];
    return dealt;
}

} // namespace asterope
