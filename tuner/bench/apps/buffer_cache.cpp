// A buffer cache as a file system's client has one in its own memory: blocks by number, the least
// recently used gives way.
#include "bench/apps/buffer_cache.hpp"

namespace asterope {

BufferCache::BufferCache(std::size_t blocks, std::size_t block_bytes)
    : block_bytes_(block_bytes), memory_(blocks * block_bytes) {
    by_block_.reserve(blocks);
    for (std::size_t i = 0; i < blocks; ++i) free_.push_back(memory_.data() + i * block_bytes);
}

char* BufferCache::find(std::uint64_t block) {
    const auto found = by_block_.find(block);
    if (found == by_block_.end()) return nullptr;
    by_use_.splice(by_use_.begin(), by_use_, found->second);
    return found->second->data;
}

char* BufferCache::insert(std::uint64_t block) {
    if (free_.empty()) drop(std::uint64_t{by_use_.back().block});
    char* const data = free_.front();
    free_.pop_front();
    by_use_.push_front({block, data});
    by_block_[block] = by_use_.begin();
    return data;
}

void BufferCache::drop(std::uint64_t block) {
    const auto found = by_block_.find(block);
    if (found == by_block_.end()) return;
    free_.push_back(found->second->data);
    by_use_.erase(found->second);
    by_block_.erase(found);
}

} // namespace asterope
