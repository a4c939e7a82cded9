// Shards: the shares of one search that several equal machines do together.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace asterope {

/// The `index`th of `count` shares, from 1 on.
struct Shard {
    unsigned index = 1, count = 1;
    std::string name() const { return std::to_string(index) + '/' + std::to_string(count); }
    bool operator==(const Shard&) const = default;
};

/// "2/4". Throws BadInput for what is no such pair, and for an index out of range.
Shard parse_shard(std::string_view text);

/// What one shard searches.
struct ShardSizes {
    std::vector<std::size_t> own; ///< bytes, ascending
    /// The last size of the shard below, which is searched as well, in little time: where its
    /// winner and that of the first own size change places is for this shard to find. None for the
    /// first shard.
    std::optional<std::size_t> border;
};

/// Deals the sizes of a search, ascending, to its shards: runs of neighbours, so that most
/// boundaries lie inside one shard, cut so that the longest shard is as short as can be. Depends on
/// nothing that is measured, so every shard deals alike. `border_cost`: what a border's search
/// takes, as a share of that of an own size. Throws BadInput where there are more shards than
/// sizes.
ShardSizes deal_sizes(const std::vector<std::size_t>& sizes, Shard shard, double border_cost);

} // namespace asterope
